/**
 * Shows where arms that should win do win: counts by suite and target, then every arm and target, worst first.
 */
import { useQuery } from '@tanstack/react-query';

import { armStandingsQuery } from '../../api/reports';
import type {
  ArmStanding,
  ArmStandingRow,
  ArmStandings,
  SuiteStandings,
} from '../../api/types';
import { AppLink } from '../../ui/app-link';
import { ButtonLink } from '../../ui/button-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Panel } from '../../ui/panel';
import { QueryView } from '../../ui/query-view';
import { EmptyState } from '../../ui/states';
import { Status, type Badge } from '../../ui/status';
import { TargetName } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';
import classes from './arms.module.css';

/** Worst first, as the server orders them. */
const STANDINGS: Record<ArmStanding, Badge> = {
  lost: { tone: 'bad', icon: 'cross', word: 'lost' },
  undecided: { tone: 'unsure', icon: 'question', word: 'undecided' },
  not_measured: { tone: 'quiet', icon: 'clock', word: 'not measured' },
  not_available: { tone: 'quiet', icon: 'muted', word: 'not available' },
  won: { tone: 'good', icon: 'check', word: 'won' },
};

export function Standings() {
  const standings = useQuery(armStandingsQuery);
  return (
    <QueryView query={standings} what="the standings" lines={8}>
      {(data) => (
        <>
          <Panel
            title="Suites by target"
            flush
            about="Counts arms that a rule of their suite watches. Won: at no point slower than the reference by more than the margin. Lost: slower at one point at least. Undecided: no point is slower, and one at least needs more measurements."
          >
            {data.rows.length === 0 ? (
              <NothingWatched />
            ) : (
              <DataTable
                label="Suites by target"
                columns={suiteColumns(data)}
                rows={data.suites}
                rowKey={({ suite }) => suite}
              />
            )}
          </Panel>
          {data.rows.length > 0 && (
            <Panel
              title="Worst first"
              flush
              note={
                data.rows.length < data.total
                  ? `The worst ${data.rows.length} of ${data.total}.`
                  : undefined
              }
            >
              <DataTable
                label="Arms, worst first"
                columns={ROW_COLUMNS}
                rows={data.rows}
                rowKey={(row) =>
                  [
                    row.suite,
                    row.benchmark,
                    row.arm,
                    row.metric,
                    row.target_id,
                  ].join('|')
                }
              />
            </Panel>
          )}
          <Unwatched suites={data.suites} />
        </>
      )}
    </QueryView>
  );
}

function suiteColumns({ targets }: ArmStandings): Column<SuiteStandings>[] {
  return [
    {
      header: 'Suite',
      breaks: true,
      cell: ({ suite, title }) => (
        <AppLink to="/arms" search={{ suite }}>
          {title}
        </AppLink>
      ),
    },
    ...targets.map(({ id, name, simulated }) => ({
      id,
      header: simulated ? `${name} (simulated)` : name,
      cell: ({ counts }: SuiteStandings) => <Counts of={counts[id] ?? {}} />,
    })),
  ];
}

function Counts({ of }: { of: Partial<Record<ArmStanding, number>> }) {
  const shown = (Object.entries(STANDINGS) as [ArmStanding, Badge][]).filter(
    ([standing]) => (of[standing] ?? 0) > 0,
  );
  if (shown.length === 0) return <span className={classes.none}>–</span>;
  return (
    <div className={classes.standings}>
      {shown.map(([standing, look]) => (
        <Status
          key={standing}
          look={{ ...look, word: `${of[standing]} ${look.word}` }}
        />
      ))}
    </div>
  );
}

const ROW_COLUMNS: readonly Column<ArmStandingRow>[] = [
  {
    header: 'Benchmark',
    breaks: true,
    cell: (row) => (
      <>
        <AppLink
          to="/arms"
          search={{
            suite: row.suite,
            benchmark: row.benchmark,
            metric: row.metric,
            target: row.target_id,
          }}
        >
          {row.title}
        </AppLink>
        <div className={classes.none}>
          {row.suite}: {row.arm} against {row.reference}
        </div>
      </>
    ),
  },
  {
    header: 'Standing',
    cell: ({ standing }) => <Status look={STANDINGS[standing]} />,
  },
  {
    header: 'Target',
    cell: (row) => (
      <TargetName link id={row.target_id} name={row.target_name} />
    ),
  },
  {
    header: 'Worst point',
    wrap: true,
    cell: (row) => (
      <>
        {row.words}
        {row.points > 1 && (
          <span className={classes.none}>
            {' '}
            · {row.points_so} of {row.points} points
          </span>
        )}
      </>
    ),
  },
  {
    header: 'Measured',
    cell: (row) =>
      row.at === null || row.run_id === null ? (
        <AppLink to="/runs/new" search={{ suite: row.suite }}>
          Run the suite
        </AppLink>
      ) : (
        <AppLink
          to="/runs/$runId"
          params={{ runId: row.run_id }}
          search={{ job: row.job_id ?? undefined }}
        >
          <TimeAgo at={row.at} />
        </AppLink>
      ),
  },
];

/** Names the benchmarks that the figures above leave out, with the reason. */
function Unwatched({ suites }: { suites: readonly SuiteStandings[] }) {
  const leftOut = suites.filter(({ unwatched }) => unwatched.length > 0);
  if (leftOut.length === 0) return null;
  return (
    <Panel
      title="Left out"
      about="No rule of the suite says that an arm of these benchmarks should win: they compare other arms, or ones that are slow on purpose. A [[rules]] entry in suite.toml adds one."
    >
      <dl className={classes.unwatched}>
        {leftOut.map(({ suite, title, unwatched }) => (
          <div key={suite}>
            <dt>{title}</dt>
            <dd>
              {unwatched.map(({ benchmark, title: name }) => (
                <AppLink
                  key={benchmark}
                  to="/arms"
                  search={{ suite, benchmark }}
                >
                  {name}
                </AppLink>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function NothingWatched() {
  return (
    <EmptyState
      icon="arms"
      title="No arm has to win"
      action={
        <ButtonLink to="/runs/new" variant="default">
          Run a suite
        </ButtonLink>
      }
    >
      No rule of a suite watches an arm on a target that can run it. A rule in
      suite.toml names the arm that should beat its reference.
    </EmptyState>
  );
}
