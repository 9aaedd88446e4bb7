/** The first page: alerts that need a person, the targets, and the newest runs. */
import { Group, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { overviewQuery } from '../../api/reports';
import type { Agent, AlertState, Overview } from '../../api/types';
import { formatPercent } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { ButtonLink } from '../../ui/button-link';
import { CodeBox } from '../../ui/code-box';
import { Icon } from '../../ui/icon';
import { QueryView } from '../../ui/query-view';
import { ALERT_STATE_MEANING, ALERT_STATES } from '../../ui/state-badges';
import { Page } from '../../ui/page';
import { Panel, MainAndAside } from '../../ui/panel';
import { PoliciesPanel } from '../../ui/policy-card';
import { RunsTable } from '../../ui/runs-table';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import classes from './overview.module.css';
import { SincePanel, type SincePanelProps } from './since-panel';

/** States shown even without alerts; closed states are shown only if there are alerts. */
const ALWAYS: readonly AlertState[] = ['open', 'acknowledged', 'suspected'];
const WHEN_ANY: readonly AlertState[] = [
  'inconclusive',
  'unconfirmed',
  'fixed',
  'expected',
  'invalid',
  'infra',
  'vanished',
];

export function OverviewPage(props: SincePanelProps) {
  const overview = useQuery(overviewQuery);
  return (
    <Page
      title="Overview"
      actions={
        <ButtonLink to="/runs/new" leftSection={<Icon name="play" size={16} />}>
          Run a suite
        </ButtonLink>
      }
    >
      <QueryView query={overview} what="the overview" lines={8}>
        {(data) => (
          <>
            <AlertTiles counts={data.alerts_by_state} />
            <MainAndAside
              main={
                <>
                  <SincePanel {...props} />
                  <LastRuns overview={data} />
                  <PoliciesPanel filters={{}} title="Usage policies" />
                </>
              }
              aside={
                <>
                  <FalseAlarms of={data.false_alarms} />
                  <Agents agents={data.agents} />
                </>
              }
            />
          </>
        )}
      </QueryView>
    </Page>
  );
}

function AlertTiles({ counts }: { counts: Overview['alerts_by_state'] }) {
  const shown = [
    ...ALWAYS,
    ...WHEN_ANY.filter((state) => (counts[state] ?? 0) > 0),
  ];
  return (
    <section aria-label="Alerts by state">
      <Title order={2} className={classes.heading}>
        Alerts by state
      </Title>
      <ul className={classes.tiles}>
        {shown.map((state) => (
          <li key={state}>
            <Link to="/alerts" search={{ state }} className={classes.tile}>
              <Status look={ALERT_STATES[state]} />
              <span className={classes.count}>{counts[state] ?? 0}</span>
              <span className={classes.meaning}>
                {ALERT_STATE_MEANING[state]}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows how often alerts were false. The server leaves the share out while there are too few alerts. */
function FalseAlarms({ of }: { of: Overview['false_alarms'] }) {
  return (
    <Panel
      title="False alarms"
      about="Opened alerts that vanished with more measurements or that a person called invalid, on real targets and without demonstrations. A rule's own quality also counts those blamed on infrastructure."
    >
      {of.share !== null && (
        <p className={classes.rate}>
          {formatPercent(Number(of.share.toPrecision(2)))}
        </p>
      )}
      <p className={classes.meaning}>{of.words}</p>
      <p className={classes.counts}>
        <AppLink to="/alerts" search={{ state: 'vanished', from: of.since }}>
          {of.vanished} vanished
        </AppLink>
        <AppLink to="/alerts" search={{ state: 'invalid', from: of.since }}>
          {of.invalid} invalid
        </AppLink>
      </p>
    </Panel>
  );
}

function LastRuns({ overview }: { overview: Overview }) {
  return (
    <Panel
      title="Recent runs"
      flush
      actions={
        <Group gap="0.4rem 1.2rem">
          <AppLink to="/runs" search={{ trigger: 'import' }}>
            Imported runs
          </AppLink>
          <AppLink to="/runs">All runs</AppLink>
        </Group>
      }
    >
      {overview.runs.length === 0 ? (
        <EmptyState
          icon="runs"
          title="No runs yet"
          action={
            <ButtonLink to="/runs/new" variant="default">
              Run a suite
            </ButtonLink>
          }
        >
          {overview.agents.length === 0
            ? 'Enrol an agent first: it builds and runs the suites.'
            : 'A first run takes a few minutes.'}
        </EmptyState>
      ) : (
        <RunsTable label="Recent runs" runs={overview.runs} brief />
      )}
    </Panel>
  );
}

function Agents({ agents }: { agents: readonly Agent[] }) {
  return (
    <Panel title="Agents" actions={<AppLink to="/targets">Targets</AppLink>}>
      {agents.length === 0 ? (
        <EmptyState
          icon="targets"
          title="No agents"
          action={<CodeBox text="paceline-server enrolment-code" />}
        >
          Make a one-time code on the server, then start an agent with it on a
          host.
        </EmptyState>
      ) : (
        <ul className={classes.agents}>
          {agents.map((agent) => (
            <li key={agent.id}>
              <span>
                <strong>{agent.name}</strong>
                <div className={classes.sub}>
                  {agent.version} · seen <TimeAgo at={agent.last_seen_at} />
                </div>
              </span>
              <Status
                look={
                  agent.state === 'online'
                    ? { tone: 'good', icon: 'check', word: 'online' }
                    : { tone: 'quiet', icon: 'muted', word: 'offline' }
                }
              />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
