/** Shows the noise floor of each target, the resulting threshold, and the A/A runs that measure it. */
import { useQuery } from '@tanstack/react-query';

import { announcedSuitesQuery } from '../../api/catalog';
import { noiseFloorsQuery } from '../../api/noise';
import type { NoiseFloor } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { compact } from '../../lib/search-values';
import { formatInterval, formatPercent } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { Pager } from '../../ui/pager';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { TargetFilter } from '../../ui/target-filter';
import { TargetName } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';
import type { NoiseSearch } from './noise-search';
import classes from './noise.module.css';
import { SchedulesPanel } from './schedules-panel';
import { TargetsPanel } from './targets-panel';

export interface NoisePageProps {
  search: NoiseSearch;
  onSearch: (search: NoiseSearch) => void;
}

export function NoisePage({ search, onSearch }: NoisePageProps) {
  const floors = useQuery(noiseFloorsQuery(search));
  const { cursor, ...filters } = search;
  return (
    <Page
      title="Noise"
      about={
        'An A/A run measures one artifact against itself: any difference is noise. ' +
        'Rules with a smaller minimum effect are refused.'
      }
    >
      <TargetsPanel />
      <div className={classes.filters}>
        <Filters search={search} onSearch={onSearch} />
      </div>
      <Panel
        title="Noise floors"
        about="The newest noise floor of each measurement, with the minimum effect to use in a rule."
        flush
      >
        <QueryView query={floors} what="the noise floors" lines={6}>
          {(page) =>
            page.items.length === 0 ? (
              <EmptyState icon="noise" title="No noise floors yet">
                Switch on A/A runs below, or start one by hand: a run whose base
                is its own commit. Until then, charts show the scatter of each
                series instead.
              </EmptyState>
            ) : (
              <>
                <DataTable
                  label="Noise floors"
                  columns={COLUMNS}
                  rows={page.items}
                  rowKey={({ id }) => id}
                />
                <Pager
                  cursor={cursor}
                  next={page.next}
                  onCursor={(next) =>
                    onSearch(compact({ ...filters, cursor: next }))
                  }
                />
              </>
            )
          }
        </QueryView>
      </Panel>
      <SchedulesPanel key={search.target} target={search.target} />
    </Page>
  );
}

function Filters({ search, onSearch }: NoisePageProps) {
  const suites = useQuery(announcedSuitesQuery);
  const set = (change: NoiseSearch) =>
    onSearch(compact({ ...search, cursor: undefined, ...change }));
  return (
    <FilterBar>
      <FilterSelect
        label="Suite"
        all="All suites"
        value={search.suite}
        options={(suites.data?.items ?? []).map(({ name, title }) => ({
          value: name,
          label: title,
        }))}
        onChange={(suite) => set({ suite })}
      />
      <TargetFilter
        value={search.target}
        onChange={(target) => set({ target })}
      />
    </FilterBar>
  );
}

const COLUMNS: readonly Column<NoiseFloor>[] = [
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName id={id} name={name} />
    ),
  },
  {
    header: 'Measurement',
    cell: ({ suite, benchmark, arm, metric, params }) => (
      <>
        {suite} / {benchmark}, {arm}
        <div style={{ color: 'var(--pl-muted)' }}>
          {metric}, {paramsLabel(params)}
        </div>
      </>
    ),
  },
  {
    header: 'Noise floor',
    align: 'right',
    cell: ({ mde, lower, upper }) => (
      <>
        {formatPercent(mde)}
        <div style={{ color: 'var(--pl-muted)' }}>
          A/A {formatInterval(lower, upper)}
        </div>
      </>
    ),
  },
  {
    header: 'Proposed threshold',
    align: 'right',
    cell: ({ proposed_threshold: proposed }) => formatPercent(proposed),
  },
  { header: 'Summary', cell: ({ words }) => words, wrap: true },
  {
    header: 'Measured',
    cell: ({ measured_at: at, run_id: runId, job_id: job }) => (
      <AppLink to="/runs/$runId" params={{ runId }} search={{ job }}>
        <TimeAgo at={at} />
      </AppLink>
    ),
  },
  {
    header: 'Rule',
    cell: ({
      suite,
      benchmark,
      arm,
      metric,
      target_name: target,
      proposed_threshold: proposed,
    }) => (
      <AppLink
        to="/rules/new"
        search={{ suite, benchmark, arm, metric, target, effect: proposed }}
        aria-label={`New rule for ${benchmark}, ${arm} on ${target}`}
      >
        New rule
      </AppLink>
    ),
  },
];
