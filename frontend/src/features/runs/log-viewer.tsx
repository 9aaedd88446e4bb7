/**
 * Shows the whole log of a job, with a search that marks matches, and a download.
 *
 * Lines are in blocks that the browser does not render while they are off screen, so that a log of 100,000
 * lines scrolls; it remains one text to select, copy and read aloud.
 */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import {
  memo,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';

import { logFileUrl, wholeLogQuery, type WholeLog } from '../../api/job-log';
import type { Job } from '../../api/types';
import { withoutAnsi } from '../../lib/ansi';
import { formatInteger } from '../../lib/units';
import { Icon } from '../../ui/icon';
import { QueryView } from '../../ui/query-view';
import { EmptyState } from '../../ui/states';
import {
  findInLines,
  MAX_MATCHES,
  searchable,
  type LogMatches,
  type Match,
} from './log-search';
import classes from './log-viewer.module.css';

const BLOCK_LINES = 200;
const NO_MATCHES: readonly Match[] = [];

/** Opens the whole log in a dialog and searches it for `find`. */
export function OpenLogButton({ job, find = '' }: { job: Job; find?: string }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        onClick={() => setOpened(true)}
      >
        {find === '' ? 'Open full log' : 'Show in log'}
      </Button>
      <Modal
        opened={opened}
        onClose={() => setOpened(false)}
        title={`Log of the job on ${job.target_name}${job.attempt > 1 ? `, attempt ${job.attempt}` : ''}`}
        size="min(90rem, 96vw)"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <LogViewer job={job} find={find} />
      </Modal>
    </>
  );
}

export function DownloadLogButton({
  job,
  size = 'compact-sm',
}: {
  job: Job;
  size?: 'compact-sm' | 'sm';
}) {
  return (
    <Button
      component="a"
      href={logFileUrl(job.id, job.attempt)}
      download
      variant="default"
      size={size}
      leftSection={<Icon name="imports" size={14} />}
    >
      Download
    </Button>
  );
}

function LogViewer({ job, find }: { job: Job; find: string }) {
  const log = useQuery(wholeLogQuery(job.id, job.attempt));
  return (
    <QueryView query={log} what="the log" lines={10}>
      {(whole) =>
        whole.text === '' ? (
          <EmptyState icon="info" title="The log is empty">
            Build output and messages of the workload appear here.
          </EmptyState>
        ) : (
          <SearchableLog job={job} whole={whole} find={find} />
        )
      }
    </QueryView>
  );
}

function SearchableLog({
  job,
  whole,
  find,
}: {
  job: Job;
  whole: WholeLog;
  find: string;
}) {
  const lines = useMemo(
    () => withoutAnsi(whole.text).replace(/\n$/, '').split('\n'),
    [whole],
  );
  const [wanted, setWanted] = useState(find);
  const [current, setCurrent] = useState(0);
  const searchedText = useDeferredValue(wanted.trim());
  const field = useRef<HTMLInputElement>(null);
  // The field appears when the log is loaded, after the dialog took the focus.
  useEffect(() => field.current?.focus(), []);
  const searchableLines = useMemo(() => searchable(lines), [lines]);
  const search = useMemo(
    () => findInLines(searchableLines, searchedText),
    [searchableLines, searchedText],
  );
  const step = (by: number) => {
    const count = search.matches.length;
    if (count > 0) setCurrent((at) => (at + by + count) % count);
  };
  return (
    <>
      <Group gap="xs" align="flex-end" className={classes.bar}>
        <TextInput
          label="Search in the log"
          value={wanted}
          ref={field}
          className={classes.search}
          onChange={(event) => {
            setWanted(event.currentTarget.value);
            setCurrent(0);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            step(event.shiftKey ? -1 : 1);
          }}
        />
        <Button
          variant="default"
          disabled={search.matches.length === 0}
          onClick={() => step(-1)}
        >
          Previous
        </Button>
        <Button
          variant="default"
          disabled={search.matches.length === 0}
          onClick={() => step(1)}
        >
          Next
        </Button>
        <DownloadLogButton job={job} size="sm" />
      </Group>
      <p role="status" className={classes.status}>
        {searchedText === ''
          ? sizeOf(lines, whole)
          : matchPosition(search, current)}
      </p>
      <Blocks
        lines={lines}
        matches={search.matches}
        length={searchedText.length}
        current={search.matches[current]}
      />
    </>
  );
}

function sizeOf(lines: readonly string[], { isCut }: WholeLog): string {
  const count = `${formatInteger(lines.length)} ${lines.length === 1 ? 'line' : 'lines'}`;
  return isCut ? `The first ${count}. Download the log to see all.` : count;
}

function matchPosition(
  { matches, isCut }: LogMatches,
  current: number,
): string {
  if (matches.length === 0) return 'No match';
  const total = isCut
    ? `more than ${formatInteger(MAX_MATCHES)}`
    : formatInteger(matches.length);
  return `Match ${formatInteger(current + 1)} of ${total}`;
}

interface BlocksProps {
  lines: readonly string[];
  matches: readonly Match[];
  length: number;
  current: Match | undefined;
}

function Blocks({ lines, matches, length, current }: BlocksProps) {
  const box = useRef<HTMLDivElement>(null);
  const blocks = useMemo(() => {
    const count = Math.ceil(lines.length / BLOCK_LINES);
    return Array.from({ length: count }, (_, at) =>
      lines.slice(at * BLOCK_LINES, (at + 1) * BLOCK_LINES),
    );
  }, [lines]);
  const ofBlock = useMemo(() => {
    const sorted = new Map<number, Match[]>();
    for (const match of matches) {
      const at = Math.floor(match.line / BLOCK_LINES);
      sorted.set(at, [...(sorted.get(at) ?? []), match]);
    }
    return sorted;
  }, [matches]);
  const currentBlock =
    current === undefined ? -1 : Math.floor(current.line / BLOCK_LINES);
  useEffect(() => {
    box.current
      ?.querySelector('[aria-current="true"]')
      ?.scrollIntoView({ block: 'center' });
    // The effect follows the current match, though it reads only the box.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies
  }, [current]);
  return (
    // What scrolls must be reachable by keyboard (WCAG 2.1.1).
    <div
      className={classes.log}
      ref={box}
      role="region"
      aria-label="Full log"
      tabIndex={0}
    >
      {blocks.map((block, at) => (
        <Block
          // Blocks never change their place.
          // oxlint-disable-next-line react/no-array-index-key
          key={at}
          lines={block}
          first={at * BLOCK_LINES}
          matches={ofBlock.get(at) ?? NO_MATCHES}
          length={length}
          current={at === currentBlock ? current : undefined}
        />
      ))}
    </div>
  );
}

interface BlockProps extends BlocksProps {
  first: number;
}

const Block = memo(({ lines, first, matches, length, current }: BlockProps) => (
  <pre
    className={classes.block}
    style={{ containIntrinsicHeight: `auto ${lines.length * 1.5}em` }}
  >
    {matches.length === 0 ? (
      lines.join('\n')
    ) : (
      <Marked {...{ lines, first, matches, length, current }} />
    )}
    {'\n'}
  </pre>
));
Block.displayName = 'Block';

function Marked({ lines, first, matches, length, current }: BlockProps) {
  return lines.map((line, at) => {
    const own = matches.filter((match) => match.line === first + at);
    return (
      // Lines never change their place.
      // oxlint-disable-next-line react/no-array-index-key
      <span key={at}>
        {own.map((match, index) => (
          <span key={match.start}>
            {line.slice(
              index === 0 ? 0 : (own[index - 1]?.start ?? 0) + length,
              match.start,
            )}
            <mark
              className={match === current ? classes.current : classes.match}
              aria-current={match === current ? 'true' : undefined}
            >
              {line.slice(match.start, match.start + length)}
            </mark>
          </span>
        ))}
        {line.slice(own.length === 0 ? 0 : (own.at(-1)?.start ?? 0) + length)}
        {at < lines.length - 1 ? '\n' : ''}
      </span>
    );
  });
}
