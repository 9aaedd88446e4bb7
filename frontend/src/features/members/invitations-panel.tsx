/** Invites people by address, and lists invitations. A link is shown once, to be handed over. */
import { Alert, Button, NativeSelect, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import {
  invitationsQuery,
  invite,
  memberKeys,
  revokeInvitation,
} from '../../api/members';
import type { CreatedInvitation, Invitation, Role } from '../../api/types';
import { ROLE_OPTIONS } from '../../lib/roles';
import { ConfirmButton } from '../../ui/confirm-button';
import { DataTable, type Column } from '../../ui/data-table';
import { Icon } from '../../ui/icon';
import { OneTimeSecret } from '../../ui/one-time-secret';
import { PagedList } from '../../ui/paged-list';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status, type Badge } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import classes from './members.module.css';

export interface InvitationsPanelProps {
  cursor: string | undefined;
  onCursor: (cursor: string | undefined) => void;
}

export function InvitationsPanel({ cursor, onCursor }: InvitationsPanelProps) {
  const invitations = useQuery(invitationsQuery(cursor));
  const [created, setCreated] = useState<CreatedInvitation | null>(null);
  return (
    <Panel
      title="Invitations"
      about="A link works once, for a week, and only for the address it was made for. A newer one for the same address replaces it."
      flush
    >
      <InviteForm onCreated={setCreated} />
      {created !== null && (
        <OneTimeSecret
          title={`Invitation for ${created.email}`}
          secret={created.url}
          advice={`Give this link to ${created.email}.`}
          onClose={() => setCreated(null)}
        />
      )}
      <PagedList
        query={invitations}
        what="the invitations"
        plural="invitations"
        icon="members"
        lines={2}
        filtered={false}
        onClear={() => onCursor(undefined)}
        cursor={cursor}
        onCursor={onCursor}
        empty={
          <EmptyState icon="members" title="No invitations yet">
            Enter the e-mail address of somebody who should join.
          </EmptyState>
        }
      >
        {(rows) => (
          <DataTable
            label="Invitations"
            columns={COLUMNS}
            rows={rows}
            rowKey={({ id }) => id}
          />
        )}
      </PagedList>
    </Panel>
  );
}

function InviteForm({
  onCreated,
}: {
  onCreated: (created: CreatedInvitation) => void;
}) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const queryClient = useQueryClient();
  const inviting = useMutation({
    mutationFn: () => invite(email.trim(), role),
    onSuccess: (created) => {
      setEmail('');
      onCreated(created);
      void queryClient.invalidateQueries({ queryKey: memberKeys.invitations });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    inviting.mutate();
  };
  return (
    <form onSubmit={submit} className={classes.form}>
      <TextInput
        label="E-mail"
        type="email"
        required
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <NativeSelect
        label="Role"
        data={[...ROLE_OPTIONS]}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as Role)}
      />
      <Button type="submit" loading={inviting.isPending}>
        Invite
      </Button>
      {inviting.error !== null && (
        <Alert
          color="red"
          variant="outline"
          role="alert"
          icon={<Icon name="warning" />}
          className={classes.refusal}
        >
          Not invited: {inviting.error.message}
        </Alert>
      )}
    </form>
  );
}

const STATES: Record<Invitation['state'], Badge> = {
  open: { tone: 'busy', icon: 'clock', word: 'open' },
  accepted: { tone: 'good', icon: 'check', word: 'accepted' },
  expired: { tone: 'quiet', icon: 'clock', word: 'expired' },
  revoked: { tone: 'quiet', icon: 'blocked', word: 'withdrawn' },
};

const COLUMNS: readonly Column<Invitation>[] = [
  { header: 'E-mail', cell: ({ email }) => email, wrap: true },
  { header: 'Role', cell: ({ role }) => role },
  { header: 'State', cell: ({ state }) => <Status look={STATES[state]} /> },
  { header: 'Invited by', cell: ({ invited_by: by }) => by, wrap: true },
  { header: 'Invited', cell: ({ created_at: at }) => <TimeAgo at={at} /> },
  {
    header: 'Change',
    cell: (invitation) =>
      invitation.state === 'open' ? <Withdraw invitation={invitation} /> : '–',
  },
];

function Withdraw({ invitation: { id, email } }: { invitation: Invitation }) {
  const queryClient = useQueryClient();
  return (
    <ConfirmButton
      label="Withdraw"
      name={`Withdraw the invitation for ${email}`}
      title={`Withdraw the invitation for ${email}?`}
      meaning="Its link stops working at once."
      confirm="Withdraw"
      action={() => revokeInvitation(id)}
      onDone={() =>
        void queryClient.invalidateQueries({ queryKey: memberKeys.invitations })
      }
    />
  );
}
