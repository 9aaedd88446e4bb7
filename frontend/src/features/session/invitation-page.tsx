/**
 * The page of an invitation's link (`/invitation#token=…`). A signed-in person joins with their account; anybody else
 * creates an account for the address of the invitation.
 */
import { Button, Loader, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { isApiError } from '../../api/errors';
import {
  acceptInvitation,
  acceptWithNewAccount,
  showInvitation,
} from '../../api/members';
import { sessionQuery, signOut } from '../../api/session';
import type { Account, InvitationOffer, Session } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { isWeakPassword, NewPasswordField } from '../../ui/new-password-field';
import { EntryFrame, Refusal } from './entry-frame';
import { useLinkToken } from './link-token';

export interface InvitationPageProps {
  /** Called with the name of the project that was joined. */
  onJoined: (project: string) => void;
}

export function InvitationPage({ onJoined }: InvitationPageProps) {
  const token = useLinkToken();
  return (
    <EntryFrame title="Invitation" heading="You are invited">
      {token === null ? (
        <Refusal title="This link is incomplete">
          Open the whole link that you were given.
        </Refusal>
      ) : (
        <Offer key={token} token={token} onJoined={onJoined} />
      )}
    </EntryFrame>
  );
}

interface StepProps extends InvitationPageProps {
  token: string;
}

function Offer({ token, onJoined }: StepProps) {
  const offer = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => showInvitation(token),
    retry: false,
    staleTime: Infinity,
  });
  const session = useQuery(sessionQuery);
  if (offer.error !== null) return <OfferRefused error={offer.error} />;
  if (offer.data === undefined || session.isPending) {
    return (
      <Stack align="center" role="status" gap="xs" py="md">
        <Loader size="sm" />
        Opening the invitation…
      </Stack>
    );
  }
  return (
    <>
      <OfferText offer={offer.data} />
      {session.data === undefined ? (
        <NewAccountForm
          token={token}
          project={offer.data.project}
          onJoined={onJoined}
        />
      ) : (
        <JoinAsYou
          token={token}
          account={session.data.account}
          onJoined={onJoined}
        />
      )}
    </>
  );
}

function OfferText({ offer }: { offer: InvitationOffer }) {
  return (
    <p style={{ margin: 0, textAlign: 'center' }}>
      {offer.invited_by} invites you to <strong>{offer.title}</strong> as{' '}
      {offer.role}. Valid until {formatDateTime(offer.expires_at)}.
    </p>
  );
}

function OfferRefused({ error }: { error: Error }) {
  const over = isApiError(error) && error.status === 410;
  return (
    <Refusal
      title={over ? 'This invitation no longer works' : 'Cannot open it'}
    >
      {error.message}
    </Refusal>
  );
}

function JoinAsYou({
  token,
  account,
  onJoined,
}: StepProps & { account: Account }) {
  const queryClient = useQueryClient();
  const join = useMutation({
    mutationFn: () => acceptInvitation(token),
    onSuccess: (project) => {
      queryClient.clear();
      onJoined(project);
    },
  });
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => queryClient.resetQueries(sessionQuery),
  });
  return (
    <Stack gap="sm">
      {join.error !== null && <Refusal>{join.error.message}</Refusal>}
      <Button fullWidth loading={join.isPending} onClick={() => join.mutate()}>
        Join as {account.name}
      </Button>
      <Button
        fullWidth
        variant="default"
        loading={leave.isPending}
        onClick={() => leave.mutate()}
      >
        Sign out and use another account
      </Button>
    </Stack>
  );
}

function NewAccountForm({
  token,
  project,
  onJoined,
}: StepProps & { project: string }) {
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const queryClient = useQueryClient();
  const accept = useMutation({
    mutationFn: () => acceptWithNewAccount({ token, email, name, password }),
    onSuccess: (session: Session) => {
      queryClient.clear();
      queryClient.setQueryData(sessionQuery.queryKey, session);
      onJoined(project);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="E-mail"
          description="The address that was invited."
          type="email"
          autoComplete="username"
          required
          maxLength={254}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <TextInput
          label="Name"
          description="How others see you."
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NewPasswordField
          value={password}
          onChange={setPassword}
          error={accept.error}
        />
        {accept.error !== null && !isWeakPassword(accept.error) && (
          <Refusal>{accept.error.message}</Refusal>
        )}
        <Button type="submit" fullWidth loading={accept.isPending}>
          Create account
        </Button>
      </Stack>
    </form>
  );
}
