/**
 * Lists the agents of the installation: who enrolled each, what it may do and when it last reported. Has enrolment, new
 * credentials, revocation, and claims to targets. Only admins of the installation see it.
 */
import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { agentsQuery } from '../../api/agents';
import { may, sessionQuery } from '../../api/session';
import type { EnrolledAgent } from '../../api/types';
import { DataTable, type Column } from '../../ui/data-table';
import { PagedList } from '../../ui/paged-list';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState, NoPermission } from '../../ui/states';
import { Status, type Badge } from '../../ui/status';
import { TargetName } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';
import {
  ACTION_LABELS,
  AgentDialog,
  actionsOf,
  type AgentAction,
} from './agent-dialogs';
import type { AgentsSearch } from './agents-search';
import classes from './agents.module.css';
import { ClaimsPanel } from './claims-panel';
import { EnrolPanel } from './enrol-panel';

export interface AgentsPageProps {
  search: AgentsSearch;
  onSearch: (search: AgentsSearch) => void;
}

export function AgentsPage(props: AgentsPageProps) {
  const session = useQuery(sessionQuery);
  const isAdmin = may(session.data, 'installation.admin');
  return (
    <Page
      title="Agents"
      about="An agent is the program on a host that runs jobs there and on the devices attached to it. It does only what it was granted."
    >
      {isAdmin ? (
        <>
          <ClaimsPanel />
          <AgentsPanel {...props} />
          <EnrolPanel />
        </>
      ) : (
        session.isSuccess && <NoPermission what="the agents" />
      )}
    </Page>
  );
}

function AgentsPanel({ search, onSearch }: AgentsPageProps) {
  const agents = useQuery(agentsQuery(search.cursor));
  const [chosen, setChosen] = useState<{
    agent: EnrolledAgent;
    action: AgentAction;
  }>();
  return (
    <Panel title="All agents" flush>
      <PagedList
        query={agents}
        what="the agents"
        plural="agents"
        icon="agents"
        filtered={false}
        onClear={() => onSearch({})}
        cursor={search.cursor}
        onCursor={(cursor) => onSearch({ cursor })}
        empty={
          <EmptyState icon="agents" title="No agents yet">
            Create a code below and run its command on the first host.
          </EmptyState>
        }
      >
        {(rows) => (
          <DataTable
            label="Agents"
            rows={rows}
            rowKey={({ id }) => id}
            columns={[
              ...COLUMNS,
              {
                header: 'Actions',
                cell: (agent) => (
                  <Group gap="xs" className={classes.actions}>
                    {actionsOf(agent).map((action) => (
                      <Button
                        key={action}
                        size="compact-xs"
                        variant="default"
                        aria-label={`${ACTION_LABELS[action]}: ${agent.name}`}
                        onClick={() => setChosen({ agent, action })}
                      >
                        {ACTION_LABELS[action]}
                      </Button>
                    ))}
                  </Group>
                ),
              },
            ]}
          />
        )}
      </PagedList>
      {chosen !== undefined && (
        <AgentDialog {...chosen} onClose={() => setChosen(undefined)} />
      )}
    </Panel>
  );
}

const STATES: Record<EnrolledAgent['state'], Badge> = {
  online: { tone: 'good', icon: 'check', word: 'online' },
  offline: { tone: 'quiet', icon: 'muted', word: 'offline' },
  revoked: { tone: 'bad', icon: 'blocked', word: 'revoked' },
};

const COLUMNS: readonly Column<EnrolledAgent>[] = [
  {
    header: 'Agent',
    wrap: true,
    cell: ({ name, version, state, enrolled_by: by }) => (
      <>
        <strong>{name}</strong> <Status look={STATES[state]} />
        <div className={classes.quiet}>
          version {version}
          {by !== null && `, enrolled by ${by}`}
        </div>
      </>
    ),
  },
  {
    header: 'Last seen',
    cell: ({
      state,
      last_seen_at: seen,
      revoked_at: revoked,
      silence_limit_s: limit,
    }) =>
      state === 'revoked' ? (
        <>
          revoked <TimeAgo at={revoked} />
        </>
      ) : (
        <>
          {seen === null ? 'never' : <TimeAgo at={seen} />}
          {limit !== null && (
            <div className={classes.quiet}>
              alert after {Number((limit / 3600).toPrecision(3))} h of silence
            </div>
          )}
        </>
      ),
  },
  {
    header: 'May act for',
    wrap: true,
    cell: ({ grant }) => (
      <dl className={classes.grant}>
        <dt>Projects</dt>
        <dd>{grant.projects.join(', ') || 'none'}</dd>
        <dt>Repositories</dt>
        <dd>{patternsText(grant.repositories)}</dd>
        <dt>Targets</dt>
        <dd>{patternsText(grant.targets)}</dd>
      </dl>
    ),
  },
  {
    header: 'Targets',
    wrap: true,
    cell: ({ targets }) =>
      targets.length === 0 ? (
        'none'
      ) : (
        <ul className={classes.targets}>
          {targets.map(({ id, name }) => (
            <li key={id}>
              <TargetName id={id} name={name} />
            </li>
          ))}
        </ul>
      ),
  },
  {
    header: 'Credential',
    cell: ({ credential_since: since, rotation_requested_at: asked }) =>
      since === null ? (
        'none'
      ) : (
        <>
          from <TimeAgo at={since} />
          {asked !== null && (
            <div className={classes.quiet}>rotated with its next heartbeat</div>
          )}
        </>
      ),
  },
];

function patternsText(patterns: readonly string[]): string {
  if (patterns.length === 0) return 'none';
  return patterns.some((pattern) => /^\*+$/.test(pattern))
    ? 'any'
    : patterns.join(', ');
}
