/**
 * Shows the end of a job's log. It scrolls with new lines only while the reader is at the bottom.
 */
import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

import { jobLogQuery } from '../../api/job-tails';
import { jobEnded } from '../../api/runs';
import type { Job, LogLine } from '../../api/types';
import { withoutAnsi } from '../../lib/ansi';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { DownloadLogButton, OpenLogButton } from './log-viewer';
import classes from './runs.module.css';

const NEAR_BOTTOM_PX = 40;

function note(job: Job): string {
  const which = job.attempt > 1 ? `Attempt ${job.attempt}. ` : '';
  return jobEnded(job)
    ? `${which}Last lines.`
    : `${which}New lines appear while you are at the end.`;
}

export function LogTail({ job }: { job: Job }) {
  const log = useQuery(jobLogQuery(job.id, job.attempt));
  return (
    <Panel
      title="Log"
      note={note(job)}
      actions={
        <Group gap={6}>
          <OpenLogButton job={job} />
          <DownloadLogButton job={job} />
        </Group>
      }
    >
      <QueryView query={log} what="the log" lines={4}>
        {(lines) =>
          lines.length === 0 ? (
            <EmptyState icon="info" title="The log is empty">
              Build output and messages of the workload appear here.
            </EmptyState>
          ) : (
            <Lines lines={lines} />
          )
        }
      </QueryView>
    </Panel>
  );
}

function Lines({ lines }: { lines: readonly LogLine[] }) {
  const box = useRef<HTMLDivElement>(null);
  const follow = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (element !== null && follow.current)
      element.scrollTop = element.scrollHeight;
    // The effect follows every new line, though it reads only the box.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies
  }, [lines]);
  return (
    // A scrolling region must be reachable by keyboard; reading every line aloud would be noise.
    <div
      className={classes.log}
      ref={box}
      role="log"
      aria-live="off"
      aria-label="Log lines"
      tabIndex={0}
      onScroll={({ currentTarget: at }) => {
        follow.current =
          at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_BOTTOM_PX;
      }}
    >
      {lines.map((line, index) => (
        // Several lines of one upload share a seq; lines are only ever appended.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={`${line.seq}.${index}`}>
          <span className={classes.stream}>{line.stream.padEnd(9)}</span>
          {withoutAnsi(line.text)}
        </div>
      ))}
    </div>
  );
}
