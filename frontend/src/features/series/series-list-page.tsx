/** Finding a series: every filter is in the address. */
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { suitesQuery, targetsQuery } from '../../api/catalog';
import { seriesListQuery } from '../../api/series';
import type { Series } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { compact } from '../../lib/search';
import { formatInteger, formatValue } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { ButtonLink } from '../../ui/button-link';
import { DataTable, type Column } from '../../ui/data-table';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { Loaded } from '../../ui/loaded';
import { Page } from '../../ui/page';
import { Pager } from '../../ui/pager';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import type { SeriesListSearch } from './series-search';

export interface SeriesListPageProps {
  search: SeriesListSearch;
  onSearch: (search: SeriesListSearch) => void;
}

export function SeriesListPage({ search, onSearch }: SeriesListPageProps) {
  const { changed, ...filters } = search;
  const series = useQuery(
    seriesListQuery(changed === undefined ? filters : { ...filters, changed: changed === 'yes' }),
  );
  const filtered = Object.keys(search).length > 0;
  return (
    <Page
      title="Series"
      lead="The history of one measurement: benchmark, arm, params and metric, on one target and branch."
      actions={
        <ButtonLink to="/matrix" variant="default">
          As a matrix
        </ButtonLink>
      }
    >
      <Filters search={search} onSearch={onSearch} />
      <Panel title={filtered ? 'Matching series' : 'All series'} flush>
        <Loaded query={series} what="the series" lines={6}>
          {(page) =>
            page.items.length === 0 ? (
              <NoSeries filtered={filtered} onClear={() => onSearch({})} />
            ) : (
              <>
                <DataTable label="Series" rows={page.items} rowKey={({ id }) => id} columns={COLUMNS} />
                <Pager
                  cursor={search.cursor}
                  next={page.next}
                  onCursor={(cursor) => onSearch(compact({ ...search, cursor }))}
                />
              </>
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}

const COLUMNS: readonly Column<Series>[] = [
  {
    header: 'Series',
    cell: (row) => (
      <AppLink to="/series/$seriesId" params={{ seriesId: row.id }}>
        {row.benchmark} · {row.arm} · {row.metric}
      </AppLink>
    ),
  },
  { header: 'Params', cell: (row) => paramsLabel(row.params) },
  { header: 'Target', cell: (row) => row.target_name },
  { header: 'Suite', cell: (row) => row.suite },
  { header: 'Branch', cell: (row) => row.branch || '–' },
  { header: 'Newest', cell: (row) => formatValue(row.value, row.unit), align: 'right' },
  { header: 'Measured', cell: (row) => <TimeAgo at={row.at} /> },
  { header: 'Points', cell: (row) => formatInteger(row.points), align: 'right' },
  { header: 'Changes', cell: (row) => <Changes changes={row.changes} /> },
];

function Changes({ changes: { standing = 0, suspect = 0 } }: Pick<Series, 'changes'>) {
  if (standing + suspect === 0) return <>none</>;
  return (
    <>
      {standing > 0 && <Status look={{ tone: 'bad', icon: 'warning', word: `${standing} standing` }} />}{' '}
      {suspect > 0 && <Status look={{ tone: 'unsure', icon: 'eye', word: `${suspect} suspect` }} />}
    </>
  );
}

function Filters({ search, onSearch }: SeriesListPageProps) {
  const suites = useQuery(suitesQuery);
  const targets = useQuery(targetsQuery);
  const set = (change: Partial<SeriesListSearch>) =>
    onSearch(compact({ ...search, ...change, cursor: undefined }));
  const all = suites.data?.items ?? [];
  const known = all.filter(({ name }) => search.suite === undefined || name === search.suite);
  const benchmarks = [...new Set(known.flatMap((suite) => suite.benchmarks.map(({ name }) => name)))];
  return (
    <FilterBar>
      <TextFilter key={search.text ?? ''} value={search.text ?? ''} onChange={(text) => set({ text })} />
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
        options={benchmarks.map((name) => ({ value: name, label: name }))}
      />
      <FilterSelect
        label="Target"
        all="All targets"
        value={search.target}
        onChange={(target) => set({ target })}
        options={(targets.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
      <FilterSelect
        label="Change"
        all="Changed or not"
        value={search.changed}
        onChange={(changed) => set({ changed: changed === 'yes' || changed === 'no' ? changed : undefined })}
        options={[
          { value: 'yes', label: 'with a change' },
          { value: 'no', label: 'without' },
        ]}
      />
    </FilterBar>
  );
}

/** Sent by Enter or when the box is left, not with every letter. */
function TextFilter({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(value);
  const send = () => {
    if (text.trim() !== value) onChange(text.trim());
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        label="Words of its name"
        placeholder="ledger native"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={send}
      />
    </form>
  );
}

function NoSeries({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  if (filtered) {
    return (
      <EmptyState
        icon="series"
        title="No series matches these filters"
        action={
          <Button variant="default" onClick={onClear}>
            Clear the filters
          </Button>
        }
      >
        Widen the filters to see more.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="series"
      title="No history yet"
      action={<ButtonLink to="/runs/new">Run a suite</ButtonLink>}
    >
      Every ordinary run adds a point to the series of what it measured; changes are looked for from twelve
      points on.
    </EmptyState>
  );
}
