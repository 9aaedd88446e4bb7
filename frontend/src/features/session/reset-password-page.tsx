/** The page of a reset link (`/reset-password#token=…`): sets a new password, which ends every other session. */
import { Button, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { isApiError } from '../../api/errors';
import { resetPassword } from '../../api/own-account';
import { sessionQuery } from '../../api/session';
import { isWeakPassword, NewPasswordField } from '../../ui/new-password-field';
import { EntryFrame, Refusal } from './entry-frame';
import { useLinkToken } from './link-token';

export interface ResetPasswordPageProps {
  onSignedIn: () => void;
}

export function ResetPasswordPage({ onSignedIn }: ResetPasswordPageProps) {
  const token = useLinkToken();
  const [password, setPassword] = useState('');
  const queryClient = useQueryClient();
  const reset = useMutation({
    mutationFn: (secret: string) => resetPassword(secret, password),
    onSuccess: (session) => {
      queryClient.clear();
      queryClient.setQueryData(sessionQuery.queryKey, session);
      onSignedIn();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token !== null) reset.mutate(token);
  };
  if (token === null) {
    return (
      <EntryFrame title="New password">
        <Refusal title="This link is incomplete">
          Open the whole link that you were given.
        </Refusal>
      </EntryFrame>
    );
  }
  return (
    <EntryFrame title="New password">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <NewPasswordField
            label="New password"
            value={password}
            onChange={setPassword}
            error={reset.error}
          />
          {reset.error !== null && !isWeakPassword(reset.error) && (
            <ResetRefused error={reset.error} />
          )}
          <Button type="submit" fullWidth loading={reset.isPending}>
            Set password and sign in
          </Button>
        </Stack>
      </form>
    </EntryFrame>
  );
}

function ResetRefused({ error }: { error: Error }) {
  const spent = isApiError(error) && error.status === 401;
  return spent ? (
    <Refusal title="This link no longer works">
      A link works once and for a short time. Ask an admin for a new one.
    </Refusal>
  ) : (
    <Refusal>{error.message}</Refusal>
  );
}
