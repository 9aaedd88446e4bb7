/** Lists all targets: whether each takes jobs and, if not, why. Every filter is in the address. */
import { useQuery } from '@tanstack/react-query';

import { fleetQuery } from '../../api/targets';
import type { Target } from '../../api/types';
import { useLiveStream } from '../../api/use-live-stream';
import { compact } from '../../lib/search-values';
import { AppLink } from '../../ui/app-link';
import { CodeBox } from '../../ui/code-box';
import { DataTable, type Column } from '../../ui/data-table';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { PagedList } from '../../ui/paged-list';
import { HEALTH_STATES, TARGET_STATES } from '../../ui/state-badges';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { SimulatedMark } from '../../ui/target-name';
import { TextFilter } from '../../ui/text-filter';
import { TimeAgo } from '../../ui/time-ago';
import { Preflight, TargetMarks } from './target-marks';
import classes from './targets.module.css';
import { HEALTHS, KINDS, STATES, type TargetsSearch } from './targets-search';
import { readingTexts } from './target-texts';

export interface TargetsPageProps {
  search: TargetsSearch;
  onSearch: (search: TargetsSearch) => void;
}

export function TargetsPage({ search, onSearch }: TargetsPageProps) {
  const { simulated, ...filters } = search;
  const targets = useQuery(
    fleetQuery(
      simulated === undefined
        ? filters
        : { ...filters, simulated: simulated === 'yes' },
    ),
  );
  useLiveStream({
    enabled: true,
    onEvent: ({ kind }) => {
      if (kind === 'target') void targets.refetch();
    },
  });
  const { cursor, ...chosen } = search;
  const filtered = Object.keys(chosen).length > 0;
  return (
    <Page
      title="Targets"
      about="Hosts and the devices attached to them. Preflight findings say how far to trust their measurements."
    >
      <Filters search={search} onSearch={onSearch} />
      <Panel title={filtered ? 'Matching targets' : 'All targets'} flush>
        <PagedList
          query={targets}
          what="the targets"
          plural="targets"
          icon="targets"
          lines={4}
          filtered={filtered}
          onClear={() => onSearch({})}
          cursor={cursor}
          onCursor={(next) => onSearch(compact({ ...chosen, cursor: next }))}
          empty={<NoTargets />}
        >
          {(rows) => (
            <DataTable
              label="Targets"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ id }) => id}
            />
          )}
        </PagedList>
      </Panel>
    </Page>
  );
}

function Filters({ search, onSearch }: TargetsPageProps) {
  const set = (change: TargetsSearch) =>
    onSearch(compact({ ...search, cursor: undefined, ...change }));
  return (
    <FilterBar dense>
      <TextFilter
        label="Search"
        placeholder="name, serial, model"
        value={search.q}
        onChange={(q) => set({ q })}
      />
      <FilterSelect
        label="Kind"
        all="Hosts and devices"
        value={search.kind}
        options={KINDS.map((value) => ({ value, label: `${value}s` }))}
        onChange={(kind) => set({ kind: kind as TargetsSearch['kind'] })}
      />
      <FilterSelect
        label="State"
        all="Any state"
        value={search.state}
        options={STATES.map((value) => ({
          value,
          label: TARGET_STATES[value].word,
        }))}
        onChange={(state) => set({ state: state as TargetsSearch['state'] })}
      />
      <FilterSelect
        label="Health"
        all="Any health"
        value={search.health}
        options={HEALTHS.map((value) => ({
          value,
          label: HEALTH_STATES[value].word,
        }))}
        onChange={(health) =>
          set({ health: health as TargetsSearch['health'] })
        }
      />
      <FilterSelect
        label="Simulated"
        all="Any"
        value={search.simulated}
        options={[
          { value: 'no', label: 'real only' },
          { value: 'yes', label: 'simulated only' },
        ]}
        onChange={(simulated) =>
          set({ simulated: simulated as TargetsSearch['simulated'] })
        }
      />
    </FilterBar>
  );
}

const COLUMNS: readonly Column<Target>[] = [
  { header: 'Target', cell: (target) => <TargetCell target={target} /> },
  {
    header: 'State',
    cell: (target) => <TargetMarks target={target} stacked />,
  },
  {
    header: 'Jobs',
    cell: ({ takes_jobs: { words } }) => <JobsCell words={words} />,
    wrap: true,
  },
  { header: 'Readings', cell: ({ gates }) => <ReadingsCell gates={gates} /> },
  {
    header: 'Preflight',
    cell: (target) =>
      target.imported ? '–' : <Preflight findings={target.preflight} />,
  },
  {
    header: 'Agent',
    cell: ({ agent_name: agent, last_seen_at: at, imported }) =>
      imported ? (
        'none'
      ) : (
        <>
          {agent}
          <div className={classes.quiet}>
            seen <TimeAgo at={at} />
          </div>
        </>
      ),
  },
];

/** Shows the reasons in short; the target's page has the full text and the advice. */
function JobsCell({ words }: { words: string }) {
  return (
    <div className={classes.brief} title={words}>
      {words}
    </div>
  );
}

function TargetCell({
  target: { id, name, kind, serial, simulated },
}: {
  target: Target;
}) {
  return (
    <>
      <AppLink to="/targets/$targetId" params={{ targetId: id }}>
        {name}
      </AppLink>
      {simulated && (
        <div>
          <SimulatedMark />
        </div>
      )}
      <div className={classes.quiet}>
        {kind} <span className="pl-mono">{serial}</span>
      </div>
    </>
  );
}

/** Number of readings in the list; the target's page has all of them. */
const READINGS_IN_LIST = 2;

function ReadingsCell({ gates }: Pick<Target, 'gates'>) {
  if (gates === null) return <>–</>;
  return readingTexts(gates)
    .slice(0, READINGS_IN_LIST)
    .map(([name, words]) => (
      <div key={name}>
        <span className={classes.quiet}>{name}</span> {words}
      </div>
    ));
}

function NoTargets() {
  return (
    <EmptyState
      icon="targets"
      title="No targets yet"
      action={<CodeBox text="paceline-server enrolment-code" />}
    >
      Make a one-time code on the server and start an agent with it. The host
      and its devices appear here once the agent runs. Without a phone,
      simulated devices show the whole loop: make run DEVICES=3.
    </EmptyState>
  );
}
