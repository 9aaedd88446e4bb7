/** My account: where I am signed in, and my password. */
import { useQuery, useQueryClient } from '@tanstack/react-query';

import {
  endOtherSessions,
  endSession,
  ownSessionsKey,
  ownSessionsQuery,
} from '../../api/own-account';
import { sessionQuery } from '../../api/session';
import type { BrowserSession } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { ConfirmButton } from '../../ui/confirm-button';
import { DataTable, type Column } from '../../ui/data-table';
import { PagedList } from '../../ui/paged-list';
import { Page } from '../../ui/page';
import { Facts, Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import type { AccountSearch } from './account-search';
import { PasswordPanel } from './password-panel';

export interface AccountPageProps {
  search: AccountSearch;
  onSearch: (search: AccountSearch) => void;
}

export function AccountPage({ search, onSearch }: AccountPageProps) {
  const session = useQuery(sessionQuery);
  return (
    <Page title="My account">
      {session.data !== undefined && (
        <Panel title="About">
          <Facts
            items={[
              ['Name', session.data.account.name],
              ['E-mail', session.data.account.email ?? '–'],
              [
                'Projects',
                session.data.projects
                  .map(({ title, role }) => `${title}: ${role ?? 'no role'}`)
                  .join(', ') || '–',
              ],
            ]}
          />
        </Panel>
      )}
      <SessionsPanel
        cursor={search.cursor}
        onCursor={(cursor) => onSearch({ cursor })}
      />
      {session.data !== undefined && <PasswordPanel session={session.data} />}
    </Page>
  );
}

function SessionsPanel({
  cursor,
  onCursor,
}: {
  cursor: string | undefined;
  onCursor: (cursor: string | undefined) => void;
}) {
  const sessions = useQuery(ownSessionsQuery(cursor));
  const queryClient = useQueryClient();
  const several = (sessions.data?.items.length ?? 0) > 1;
  return (
    <Panel
      title="Sessions"
      about="The browsers you are signed in with. End those you do not know, then change your password."
      flush
      actions={
        several && (
          <ConfirmButton
            label="Sign out everywhere else"
            title="Sign out everywhere else?"
            meaning="All your sessions but this one end at once. Tokens go on."
            confirm="Sign out"
            action={endOtherSessions}
            onDone={() =>
              void queryClient.invalidateQueries({ queryKey: ownSessionsKey })
            }
          />
        )
      }
    >
      <PagedList
        query={sessions}
        what="your sessions"
        plural="sessions"
        icon="targets"
        lines={2}
        filtered={false}
        onClear={() => onCursor(undefined)}
        cursor={cursor}
        onCursor={onCursor}
        empty={
          <EmptyState icon="targets" title="No sessions on this page">
            The first page has this one.
          </EmptyState>
        }
      >
        {(rows) => (
          <DataTable
            label="Sessions"
            columns={COLUMNS}
            rows={rows}
            rowKey={({ id }) => id}
          />
        )}
      </PagedList>
    </Panel>
  );
}

const CURRENT = { tone: 'good', icon: 'check', word: 'this one' } as const;

const COLUMNS: readonly Column<BrowserSession>[] = [
  {
    header: 'Device',
    wrap: true,
    cell: ({ device, is_current: isCurrent }) => (
      <>
        {device === '' ? 'Unknown' : device}{' '}
        {isCurrent && <Status look={CURRENT} />}
      </>
    ),
  },
  { header: 'Address', cell: ({ place }) => place || '–' },
  { header: 'Signed in by', cell: ({ method }) => method },
  { header: 'Since', cell: ({ created_at: at }) => <TimeAgo at={at} /> },
  { header: 'Last used', cell: ({ last_seen_at: at }) => <TimeAgo at={at} /> },
  {
    header: 'Ends',
    cell: ({ ends_at: at, expires_at: latest }) => (
      <time dateTime={at} title={`At the latest ${formatDateTime(latest)}`}>
        {formatDateTime(at)}
      </time>
    ),
  },
  {
    header: 'Change',
    cell: (session) =>
      session.is_current ? '–' : <EndButton session={session} />,
  },
];

function EndButton({ session: { id, device } }: { session: BrowserSession }) {
  const queryClient = useQueryClient();
  const name = device === '' ? 'an unknown device' : device;
  return (
    <ConfirmButton
      label="End"
      name={`End the session of ${name}`}
      title={`End the session of ${name}?`}
      meaning="That browser is signed out at once."
      confirm="End session"
      action={() => endSession(id)}
      onDone={() =>
        void queryClient.invalidateQueries({ queryKey: ownSessionsKey })
      }
    />
  );
}
