/** The list of runs; every filter is in the address. */
import { useQuery } from '@tanstack/react-query';

import { suitesQuery } from '../../api/catalog';
import { runsQuery, type RunFilters } from '../../api/runs';
import type { RunState, Trigger } from '../../api/types';
import { compact } from '../../lib/search-values';
import { ButtonLink } from '../../ui/button-link';
import { DayFilter } from '../../ui/day-filter';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { PagedList } from '../../ui/paged-list';
import { RUN_STATES, TRIGGER_LABELS } from '../../ui/state-badges';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { RunsTable } from '../../ui/runs-table';
import { EmptyState } from '../../ui/states';
import { TargetFilter } from '../../ui/target-filter';
import { RUN_STATE_VALUES, TRIGGER_VALUES } from './runs-search';

export interface RunsPageProps {
  search: RunFilters;
  onSearch: (search: RunFilters) => void;
}

export function RunsPage({ search, onSearch }: RunsPageProps) {
  const runs = useQuery(runsQuery(search));
  const filtered = Object.keys(search).length > 0;
  return (
    <Page
      title="Runs"
      about="A run is one request: a suite, a revision and the targets to measure it on."
      actions={
        <ButtonLink to="/runs/new" leftSection={<Icon name="play" size={16} />}>
          Run a suite
        </ButtonLink>
      }
    >
      <RunsFilterBar search={search} onSearch={onSearch} />
      <Panel title={filtered ? 'Matching runs' : 'All runs'} flush>
        <PagedList
          query={runs}
          what="the runs"
          plural="runs"
          icon="runs"
          filtered={filtered}
          onClear={() => onSearch({})}
          cursor={search.cursor}
          onCursor={(cursor) => onSearch(compact({ ...search, cursor }))}
          empty={<NoRuns />}
        >
          {(rows) => <RunsTable label="Runs" runs={rows} />}
        </PagedList>
      </Panel>
    </Page>
  );
}

function RunsFilterBar({ search, onSearch }: RunsPageProps) {
  const suites = useQuery(suitesQuery);
  const set = (change: Partial<RunFilters>) =>
    onSearch(compact({ ...search, ...change, cursor: undefined }));
  return (
    <FilterBar>
      <FilterSelect
        label="Suite"
        all="All suites"
        value={search.suite}
        onChange={(suite) => set({ suite })}
        options={(suites.data?.items ?? []).map((suite) => ({
          value: suite.name,
          label: suite.title,
        }))}
      />
      <TargetFilter
        value={search.target}
        onChange={(target) => set({ target })}
      />
      <FilterSelect
        label="State"
        all="Any state"
        value={search.state}
        onChange={(state) => set({ state: state as RunState | undefined })}
        options={RUN_STATE_VALUES.map((value) => ({
          value,
          label:
            value === 'failed'
              ? 'failed, lost or expired'
              : RUN_STATES[value].word,
        }))}
      />
      <FilterSelect
        label="Trigger"
        all="All triggers"
        value={search.trigger}
        onChange={(trigger) => set({ trigger: trigger as Trigger | undefined })}
        options={TRIGGER_VALUES.map((value) => ({
          value,
          label: TRIGGER_LABELS[value],
        }))}
      />
      <DayFilter
        label="From"
        value={search.from}
        onChange={(from) => set({ from })}
      />
      <DayFilter
        label="Before"
        value={search.to}
        onChange={(to) => set({ to })}
      />
    </FilterBar>
  );
}

function NoRuns() {
  return (
    <EmptyState
      icon="runs"
      title="No runs yet"
      action={
        <ButtonLink to="/runs/new" variant="default">
          Run a suite
        </ButtonLink>
      }
    >
      Choose a suite and watch its samples arrive. Agents announce the suites
      they can run.
    </EmptyState>
  );
}
