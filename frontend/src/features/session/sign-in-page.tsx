/**
 * Signs a person in by the one-time link that a terminal printed (`/sign-in#token=…`) or by e-mail and password. The
 * token is in the fragment, so no server log sees it, and it is removed from the address before it is used.
 */
import { Button, Loader, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent } from 'react';

import { isApiError } from '../../api/errors';
import {
  sessionQuery,
  signInByLink,
  signInByPassword,
} from '../../api/session';
import type { Session } from '../../api/types';
import { CodeBox } from '../../ui/code-box';
import { EntryFrame, Refusal } from './entry-frame';
import { takeToken } from './link-token';

export interface SignInPageProps {
  onSignedIn: () => void;
}

export function SignInPage({ onSignedIn }: SignInPageProps) {
  const queryClient = useQueryClient();
  const acceptSession = (session: Session) => {
    queryClient.clear();
    queryClient.setQueryData(sessionQuery.queryKey, session);
    onSignedIn();
  };
  const byLink = useMutation({
    mutationFn: signInByLink,
    onSuccess: acceptSession,
  });
  // The link works once, so the token is taken out of the address before it is used. A link pasted
  // while this page is open changes only the fragment, which causes an event.
  const { mutate } = byLink;
  useEffect(() => {
    const spend = () => {
      const token = takeToken();
      if (token !== null) mutate(token);
    };
    spend();
    window.addEventListener('hashchange', spend);
    return () => window.removeEventListener('hashchange', spend);
  }, [mutate]);
  return (
    <EntryFrame title="Sign in" heading="Sign in to Paceline">
      {byLink.isPending && (
        <Stack align="center" role="status" gap="xs" py="md">
          <Loader size="sm" />
          Signing in…
        </Stack>
      )}
      {byLink.error !== null && <LinkRefused error={byLink.error} />}
      {!byLink.isPending && <PasswordForm onSession={acceptSession} />}
    </EntryFrame>
  );
}

function LinkRefused({ error }: { error: Error }) {
  const spent = isApiError(error) && error.status >= 400 && error.status < 500;
  return (
    <Refusal
      title={
        spent ? 'This sign-in link no longer works' : 'Cannot check the link'
      }
    >
      {spent ? (
        <Stack gap="xs">
          <span>
            A link works once and for a short time. Print a new one on the
            server:
          </span>
          <CodeBox text="paceline-server sign-in-link" />
        </Stack>
      ) : (
        `${error.message} Open the link again once the server answers.`
      )}
    </Refusal>
  );
}

function PasswordForm({
  onSession,
}: {
  onSession: (session: Session) => void;
}) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const byPassword = useMutation({
    mutationFn: () => signInByPassword(email.trim(), password),
    onSuccess: onSession,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    byPassword.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{
            'aria-label': 'Show password',
            tabIndex: 0,
          }}
        />
        {byPassword.error !== null && (
          <PasswordRefused error={byPassword.error} />
        )}
        <Button type="submit" loading={byPassword.isPending} fullWidth>
          Sign in
        </Button>
        <p
          style={{ margin: 0, color: 'var(--pl-muted)', fontSize: '0.875rem' }}
        >
          No account yet, or no password? Ask an admin for a link.{' '}
          <code className="pl-mono">paceline-server up</code> prints one when it
          starts.
        </p>
      </Stack>
    </form>
  );
}

function PasswordRefused({ error }: { error: Error }) {
  const wrong = isApiError(error) && error.status === 401;
  return (
    <Refusal>{wrong ? 'Wrong e-mail or password.' : error.message}</Refusal>
  );
}
