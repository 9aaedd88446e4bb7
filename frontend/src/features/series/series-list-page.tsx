/** Finds series; every filter is in the address. */
import { useQuery } from '@tanstack/react-query';

import { suitesQuery } from '../../api/catalog';
import { seriesListQuery } from '../../api/series';
import type { Series } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { compact } from '../../lib/search-values';
import { formatInteger, formatValue } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { ButtonLink } from '../../ui/button-link';
import { DataTable, type Column } from '../../ui/data-table';
import { DayFilter } from '../../ui/day-filter';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { Identifier } from '../../ui/identifier';
import { PagedList } from '../../ui/paged-list';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TargetFilter } from '../../ui/target-filter';
import { TargetName } from '../../ui/target-name';
import { TextFilter } from '../../ui/text-filter';
import { TimeAgo } from '../../ui/time-ago';
import type { SeriesListSearch } from './series-search';
import classes from './series.module.css';

export interface SeriesListPageProps {
  search: SeriesListSearch;
  onSearch: (search: SeriesListSearch) => void;
}

export function SeriesListPage({ search, onSearch }: SeriesListPageProps) {
  const { changed, ...filters } = search;
  const series = useQuery(
    seriesListQuery(
      changed === undefined
        ? filters
        : { ...filters, changed: changed === 'yes' },
    ),
  );
  const filtered = Object.keys(search).length > 0;
  return (
    <Page
      title="Series"
      about="The history of one measurement: benchmark, arm, params and metric, on one target and branch."
      actions={
        <ButtonLink to="/matrix" variant="default">
          View as matrix
        </ButtonLink>
      }
    >
      <Filters search={search} onSearch={onSearch} />
      <Panel title={filtered ? 'Matching series' : 'All series'} flush>
        <PagedList
          query={series}
          what="the series"
          plural="series"
          icon="series"
          filtered={filtered}
          onClear={() => onSearch({})}
          cursor={search.cursor}
          onCursor={(cursor) => onSearch(compact({ ...search, cursor }))}
          empty={<NoSeries />}
        >
          {(rows) => (
            <DataTable
              label="Series"
              rows={rows}
              rowKey={({ id }) => id}
              columns={COLUMNS}
            />
          )}
        </PagedList>
      </Panel>
    </Page>
  );
}

const COLUMNS: readonly Column<Series>[] = [
  {
    header: 'Series',
    breaks: true,
    cell: (row) => (
      <AppLink to="/series/$seriesId" params={{ seriesId: row.id }}>
        <Identifier
          name={`${row.title ?? `${row.benchmark} · ${row.arm}`} · ${row.metric}`}
        />
      </AppLink>
    ),
  },
  { header: 'Params', cell: (row) => paramsLabel(row.params) },
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name, imported }) => (
      <>
        <TargetName id={id} name={name} />
        {imported && <span className={classes.quiet}> imported</span>}
      </>
    ),
  },
  { header: 'Suite', cell: (row) => row.suite },
  { header: 'Branch', cell: (row) => row.branch || '–' },
  {
    header: 'Newest',
    cell: (row) => formatValue(row.value, row.unit),
    align: 'right',
  },
  { header: 'Measured', cell: (row) => <TimeAgo at={row.at} /> },
  {
    header: 'Points',
    cell: (row) => formatInteger(row.points),
    align: 'right',
  },
  { header: 'Changes', cell: (row) => <Changes changes={row.changes} /> },
];

function Changes({
  changes: { standing = 0, suspect = 0 },
}: Pick<Series, 'changes'>) {
  if (standing + suspect === 0) return <>none</>;
  return (
    <>
      {standing > 0 && (
        <Status
          look={{ tone: 'bad', icon: 'warning', word: `${standing} standing` }}
        />
      )}{' '}
      {suspect > 0 && (
        <Status
          look={{ tone: 'unsure', icon: 'eye', word: `${suspect} suspect` }}
        />
      )}
    </>
  );
}

function Filters({ search, onSearch }: SeriesListPageProps) {
  const suites = useQuery(suitesQuery);
  const set = (change: Partial<SeriesListSearch>) =>
    onSearch(compact({ ...search, ...change, cursor: undefined }));
  const all = suites.data?.items ?? [];
  const known = all.filter(
    ({ name }) => search.suite === undefined || name === search.suite,
  );
  // Two suites may have a benchmark of the same name; the filter is by name, so it is listed once.
  const benchmarks = new Map(
    known.flatMap((suite) =>
      suite.benchmarks.map(({ name, title }) => [name, title] as const),
    ),
  );
  return (
    <FilterBar>
      <TextFilter
        label="Search"
        placeholder="ledger native"
        value={search.text}
        onChange={(text) => set({ text })}
      />
      <FilterSelect
        label="Suite"
        all="All suites"
        value={search.suite}
        onChange={(suite) => set({ suite, benchmark: undefined })}
        options={all.map(({ name, title }) => ({ value: name, label: title }))}
      />
      <FilterSelect
        label="Benchmark"
        all="All benchmarks"
        value={search.benchmark}
        onChange={(benchmark) => set({ benchmark })}
        options={[...benchmarks].map(([value, label]) => ({ value, label }))}
      />
      <TargetFilter
        value={search.target}
        onChange={(target) => set({ target })}
      />
      <FilterSelect
        label="Changes"
        all="All"
        value={search.changed}
        onChange={(changed) =>
          set({
            changed:
              changed === 'yes' || changed === 'no' ? changed : undefined,
          })
        }
        options={[
          { value: 'yes', label: 'with a change' },
          { value: 'no', label: 'without' },
        ]}
      />
      <DayFilter
        label="Measured from"
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

function NoSeries() {
  return (
    <EmptyState
      icon="series"
      title="No history yet"
      action={<ButtonLink to="/runs/new">Run a suite</ButtonLink>}
    >
      Every ordinary run adds a point to the series of what it measured; changes
      are looked for from twelve points on.
    </EmptyState>
  );
}
