/** Sets or changes one's password; every other session ends. */
import { Alert, Button, PasswordInput, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { changePassword, ownSessionsKey } from '../../api/own-account';
import { sessionQuery } from '../../api/session';
import type { Session } from '../../api/types';
import { Icon } from '../../ui/icon';
import { isWeakPassword, NewPasswordField } from '../../ui/new-password-field';
import { Panel } from '../../ui/panel';

export function PasswordPanel({ session }: { session: Session }) {
  if (session.account.email === null) {
    return (
      <Panel title="Password">
        <p style={{ margin: 0 }}>
          This account has no e-mail address to sign in with, so it has no
          password. A link from the server signs it in.
        </p>
      </Panel>
    );
  }
  return (
    <Panel
      title={session.has_password ? 'Change password' : 'Set a password'}
      about="All your other sessions end, and links that were made for you stop working."
    >
      <PasswordForm hasPassword={session.has_password} />
    </Panel>
  );
}

function PasswordForm({ hasPassword }: { hasPassword: boolean }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: () => changePassword(hasPassword ? current : null, password),
    onSuccess: () => {
      setCurrent('');
      setPassword('');
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
      void queryClient.invalidateQueries({ queryKey: ownSessionsKey });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw={420}>
        {hasPassword && (
          <PasswordInput
            label="Present password"
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            visibilityToggleButtonProps={{
              'aria-label': 'Show present password',
              tabIndex: 0,
            }}
          />
        )}
        <NewPasswordField
          label="New password"
          value={password}
          onChange={setPassword}
          error={change.error}
        />
        {change.error !== null && !isWeakPassword(change.error) && (
          <Alert
            color="red"
            variant="outline"
            role="alert"
            icon={<Icon name="warning" />}
          >
            Not changed: {change.error.message}
          </Alert>
        )}
        {change.isSuccess && (
          <Alert
            color="green"
            variant="outline"
            role="status"
            icon={<Icon name="check" />}
          >
            Password set. Your other sessions have ended.
          </Alert>
        )}
        <Button
          type="submit"
          style={{ alignSelf: 'flex-start' }}
          loading={change.isPending}
        >
          {hasPassword ? 'Change password' : 'Set password'}
        </Button>
      </Stack>
    </form>
  );
}
