/** Lists members with their roles, and invitations. They can be edited with permission only. */
import { NativeSelect } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import {
  changeRole,
  memberKeys,
  membersQuery,
  removeMember,
} from '../../api/members';
import { may, sessionQuery } from '../../api/session';
import type { Member, Role, Session } from '../../api/types';
import { ROLES } from '../../lib/roles';
import { ConfirmButton } from '../../ui/confirm-button';
import { DataTable, type Column } from '../../ui/data-table';
import { NotChangedNotice } from '../../ui/not-changed-notice';
import { PagedList } from '../../ui/paged-list';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import { InvitationsPanel } from './invitations-panel';
import type { MembersSearch } from './members-search';

export interface MembersPageProps {
  search: MembersSearch;
  onSearch: (search: MembersSearch) => void;
}

export function MembersPage({ search, onSearch }: MembersPageProps) {
  const session = useQuery(sessionQuery);
  const members = useQuery(membersQuery(search.members));
  const manages = may(session.data, 'members.write');
  return (
    <Page
      title="Members"
      about="Who belongs to this project. A role has the permissions of those before it: viewer, triager, maintainer, admin."
    >
      <Panel title="Members" flush>
        <PagedList
          query={members}
          what="the members"
          plural="members"
          icon="members"
          filtered={false}
          onClear={() => onSearch({})}
          cursor={search.members}
          onCursor={(cursor) => onSearch({ ...search, members: cursor })}
          empty={<NoMembers manages={manages} />}
        >
          {(rows) => (
            <DataTable
              label="Members"
              columns={
                manages ? [...COLUMNS, ...actionsOf(session.data)] : COLUMNS
              }
              rows={rows}
              rowKey={({ account }) => account.id}
            />
          )}
        </PagedList>
      </Panel>
      {manages && (
        <InvitationsPanel
          cursor={search.invitations}
          onCursor={(cursor) => onSearch({ ...search, invitations: cursor })}
        />
      )}
    </Page>
  );
}

function NoMembers({ manages }: { manages: boolean }) {
  return (
    <EmptyState icon="members" title="No members yet">
      {manages
        ? 'Invite somebody below. They choose their own password.'
        : 'An admin invites people to this project.'}
    </EmptyState>
  );
}

const DISABLED = { tone: 'quiet', icon: 'blocked', word: 'disabled' } as const;

const COLUMNS: readonly Column<Member>[] = [
  {
    header: 'Name',
    wrap: true,
    cell: ({ account, disabled }) => (
      <>
        {account.name} {disabled && <Status look={DISABLED} />}
      </>
    ),
  },
  { header: 'E-mail', cell: ({ account }) => account.email ?? '–', wrap: true },
  { header: 'Role', cell: ({ role }) => role },
  { header: 'Since', cell: ({ since }) => <TimeAgo at={since} /> },
];

/** Returns the column of actions. Only admins of the installation may change their own role or remove themselves. */
function actionsOf(session: Session | undefined): Column<Member>[] {
  const isOwn = ({ account }: Member) =>
    account.id === session?.account.id && !may(session, 'installation.admin');
  return [
    {
      header: 'Change',
      cell: (member) => (isOwn(member) ? '–' : <Actions member={member} />),
    },
  ];
}

function Actions({ member: { account, role } }: { member: Member }) {
  const queryClient = useQueryClient();
  const refresh = () =>
    void queryClient.invalidateQueries({ queryKey: memberKeys.all });
  const change = useMutation({
    mutationFn: (next: Role) => changeRole(account.id, next),
    onSettled: refresh,
  });
  return (
    <div style={{ display: 'flex', gap: '0.5rem', flexWrap: 'wrap' }}>
      <NativeSelect
        size="xs"
        aria-label={`Role of ${account.name}`}
        data={[...ROLES]}
        value={role}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.value as Role)}
      />
      <ConfirmButton
        label="Remove"
        name={`Remove ${account.name}`}
        title={`Remove ${account.name} from the project?`}
        meaning="They see nothing of this project from now on, and their tokens for it stop. What they did stays."
        confirm="Remove"
        action={() => removeMember(account.id)}
        onDone={refresh}
      />
      <NotChangedNotice error={change.error} />
    </div>
  );
}
