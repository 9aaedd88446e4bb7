/** The server's comparison of two sides; nothing is judged or computed here. */
import { Button, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { suitesQuery } from '../../api/catalog';
import type { Compare, CompareSide } from '../../api/types';
import { shortId } from '../../lib/ids';
import { formatDateTime } from '../../lib/times';
import { compact } from '../../lib/search-values';
import { formatInteger } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { ButtonLink } from '../../ui/button-link';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { NameTexts, useNameText } from '../../ui/identifier';
import { DEMONSTRATION } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { useTargetLabel } from '../../ui/target-labels';
import classes from './compare.module.css';
import { CompareTable } from './compare-table';
import type { CompareSearchProps } from './compare-search';

/** Without this note, a row whose median got faster beside the word "slower" looks like a mistake. */
const JUDGED_ROWS_NOTE =
  'Their summary, ratio and interval come from that job, the columns Base and Head from ordinary runs.';

/** The commit of imported figures when none was given. */
const UNKNOWN_COMMIT = 'unknown';

export interface CompareReportProps extends CompareSearchProps {
  /**
   * Pages in order. Only the rows differ between pages; the rest is taken from the last page.
   */
  pages: readonly Compare[];
  fetching: boolean;
  /** True if the rows have changed on the server, so that all pages must be loaded again. */
  stale: boolean;
  onMore: () => void;
}

export function CompareReport({
  pages,
  search,
  onSearch,
  fetching,
  stale,
  onMore,
}: CompareReportProps) {
  const data = pages.at(-1);
  if (data === undefined) return null;
  const rows = pages.flatMap((page) => page.rows);
  const texts = Object.assign({}, ...pages.map((page) => page.name_texts));
  return (
    <NameTexts texts={texts}>
      <Surroundings data={data} />
      <Panel
        title="Measurements"
        flush
        note={data.summary}
        actions={<RequestAbRun data={data} />}
      >
        <div className={classes.note}>
          <p className={classes.judged} role="note">
            <Icon name="info" size={16} />
            <span>
              {data.note}
              {rows.some(({ judged }) => judged) && ` ${JUDGED_ROWS_NOTE}`}
            </span>
          </p>
          <Filters data={data} search={search} onSearch={onSearch} />
        </div>
        {rows.length === 0 ? (
          <NoRows
            data={data}
            onShowAll={() => onSearch(compact({ ...search, only: undefined }))}
          />
        ) : (
          <CompareTable rows={rows} />
        )}
        {data.next !== null && (
          <div className={classes.more}>
            <Button variant="default" loading={fetching} onClick={onMore}>
              {stale ? 'Reload' : 'Show more'}
            </Button>
            <span className={classes.quiet}>
              {formatInteger(rows.length)} of {formatInteger(data.total)} rows,
              clearest and largest first
            </span>
          </div>
        )}
      </Panel>
    </NameTexts>
  );
}

function Surroundings({
  data: { base, head, environment, same_environment: same },
}: {
  data: Compare;
}) {
  return (
    <Panel title="Environment">
      <dl className={classes.pair}>
        <SideFacts label="Base" side={base} />
        <SideFacts label="Head" side={head} />
      </dl>
      {environment.length > 0 && (
        <div className={classes.differs} role="note">
          <Icon name="warning" />
          <div>
            <strong>The environment differs.</strong> Differences below may not
            come from the code.
            <ul className={classes.list} aria-label="Environment differences">
              {environment.map(({ target_id: target, factor, words }) => (
                <li key={`${target} ${factor}`}>{words}</li>
              ))}
            </ul>
          </div>
        </div>
      )}
      {environment.length === 0 && (
        <p className={classes.same}>
          {same
            ? 'Every target that measured both sides had the same environment.'
            : 'No target measured both sides, so their environments cannot be compared.'}
        </p>
      )}
    </Panel>
  );
}

function SideFacts({ label, side }: { label: string; side: CompareSide }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span className="pl-mono">{side.commit.slice(0, 12)}</span>
        {side.run_id !== null && (
          <>
            {' '}
            · run{' '}
            <AppLink
              to="/runs/$runId"
              params={{ runId: side.run_id }}
              className="pl-mono"
            >
              {shortId(side.run_id)}
            </AppLink>
          </>
        )}
        {side.demonstration && <Status look={DEMONSTRATION} />}
        <div className={classes.quiet}>
          {formatDateTime(side.at)}
          {side.run_id === null &&
            `, ${side.runs === 1 ? 'one run' : `the newest of ${side.runs} runs`}`}
        </div>
      </dd>
    </div>
  );
}

/** Links to the form of an A/B run if two commits can be measured interleaved, which another tool's suite cannot. */
function RequestAbRun({ data: { suite, base, head } }: { data: Compare }) {
  const suites = useQuery(suitesQuery).data?.items ?? [];
  if (
    base.commit === head.commit ||
    [base, head].some(({ commit }) => commit === UNKNOWN_COMMIT) ||
    suites.some(({ name, imported }) => name === suite && imported)
  )
    return null;
  return (
    <ButtonLink
      to="/runs/new"
      variant="default"
      size="sm"
      search={{ suite, base: base.commit, commit: head.commit }}
    >
      Start an A/B run
    </ButtonLink>
  );
}

/** Returns the measured values, and the value in the address even if it was not measured. */
function options(
  measured: readonly string[],
  chosen: string | undefined,
  textOf: (name: string) => string = String,
) {
  const values = new Set([
    ...measured,
    ...(chosen === undefined ? [] : [chosen]),
  ]);
  return [...values].map((value) => ({ value, label: textOf(value) }));
}

function Filters({
  data,
  search,
  onSearch,
}: CompareSearchProps & { data: Compare }) {
  const set = (change: Partial<typeof search>) =>
    onSearch(compact({ ...search, ...change }));
  const labelOf = useTargetLabel();
  const textOf = useNameText();
  const { targets, benchmarks, metrics } = data.choices;
  return (
    <FilterBar label="Rows">
      <FilterSelect
        label="Target"
        all="All targets"
        value={search.target}
        options={targets.map(({ id, name }) => ({
          value: id,
          label: labelOf(id, name),
        }))}
        onChange={(target) => set({ target })}
      />
      <FilterSelect
        label="Benchmark"
        all="All benchmarks"
        value={search.benchmark}
        options={options(benchmarks, search.benchmark, textOf)}
        onChange={(benchmark) => set({ benchmark })}
      />
      <FilterSelect
        label="Metric"
        all="All metrics"
        value={search.metric}
        options={options(metrics, search.metric)}
        onChange={(metric) => set({ metric })}
      />
      <Switch
        className={classes.switch ?? ''}
        label={`Hide uncertain rows${data.hidden > 0 ? ` (${data.hidden} hidden)` : ''}`}
        checked={search.only === 'clear'}
        onChange={(event) =>
          set({ only: event.currentTarget.checked ? 'clear' : undefined })
        }
      />
    </FilterBar>
  );
}

function NoRows({ data, onShowAll }: { data: Compare; onShowAll: () => void }) {
  if (data.hidden > 0) {
    return (
      <EmptyState
        icon="compare"
        title="No clear differences"
        action={
          <Button variant="default" onClick={onShowAll}>
            Show uncertain rows
          </Button>
        }
      >
        {data.hidden} measurements are uncertain or below the noise floor.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="compare" title="No measurements">
      Widen the filters, or wait for the jobs to end.
    </EmptyState>
  );
}
