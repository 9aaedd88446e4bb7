/** Makes a one-time code and shows the command that enrols an agent with it. */
import { Alert, Button, Group, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { createEnrolmentCode } from '../../api/agents';
import { sessionQuery } from '../../api/session';
import type { EnrolmentRequest } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { CodeBox } from '../../ui/code-box';
import { Icon } from '../../ui/icon';
import { Panel } from '../../ui/panel';
import { grantOf, isComplete, NEW_GRANT, type GrantDraft } from './grant-draft';
import { GrantFields } from './grant-fields';

export function EnrolPanel() {
  const session = useQuery(sessionQuery);
  const [draft, setDraft] = useState<GrantDraft>();
  const own = session.data?.project ?? null;
  const shown = draft ?? {
    ...NEW_GRANT,
    projects: own === null ? [] : [own],
  };
  const create = useMutation({
    mutationFn: (request: EnrolmentRequest) => createEnrolmentCode(request),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(grantOf(shown));
  };
  return (
    <Panel
      title="Enrol an agent"
      about="A code works once. The agent that uses it keeps what is granted here, and nothing else."
    >
      <form onSubmit={submit}>
        <Stack gap="sm" maw="44rem">
          <GrantFields
            draft={shown}
            onDraft={(next) => {
              create.reset();
              setDraft(next);
            }}
          />
          {create.error !== null && (
            <Alert
              color="red"
              variant="outline"
              role="alert"
              icon={<Icon name="warning" />}
            >
              No code: {create.error.message}
            </Alert>
          )}
          <Group>
            <Button
              type="submit"
              loading={create.isPending}
              disabled={!isComplete(shown)}
            >
              Create code
            </Button>
          </Group>
        </Stack>
      </form>
      {create.data !== undefined && <EnrolCommand {...create.data} />}
    </Panel>
  );
}

export function EnrolCommand({
  code,
  expires_at: expiresAt,
}: {
  code: string;
  expires_at: string;
}) {
  return (
    <Stack
      gap={6}
      mt="md"
      role="status"
      align="flex-start"
      style={{ overflowWrap: 'anywhere' }}
    >
      <span>
        Run this on the host, beside its agent.toml. The code is shown only here
        and works once, until {formatDateTime(expiresAt)}.
      </span>
      <CodeBox
        text={`paceline agent --server ${window.location.origin} --config agent.toml --enrol ${code}`}
      />
    </Stack>
  );
}
