/** The dialogs of the actions on an agent. Each says what the action does and, if the server refused it, why. */
import { Alert, Button, Group, Modal, NumberInput, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';

import {
  agentKeys,
  createEnrolmentCode,
  revokeAgent,
  rotateAgent,
  setGrant,
  setSilenceLimit,
} from '../../api/agents';
import type { EnrolledAgent } from '../../api/types';
import { Icon } from '../../ui/icon';
import { EnrolCommand } from './enrol-panel';
import { draftOf, grantOf, isComplete } from './grant-draft';
import { GrantFields } from './grant-fields';

export type AgentAction = 'grant' | 'silence' | 'rotate' | 'revoke' | 'replace';

export const ACTION_LABELS: Record<AgentAction, string> = {
  grant: 'Change grant',
  silence: 'Limit silence',
  rotate: 'Rotate',
  revoke: 'Revoke',
  replace: 'Enrol again',
};

export function actionsOf({ state }: EnrolledAgent): AgentAction[] {
  return state === 'revoked'
    ? ['replace']
    : ['grant', 'silence', 'rotate', 'revoke', 'replace'];
}

export interface AgentDialogProps {
  agent: EnrolledAgent;
  action: AgentAction;
  onClose: () => void;
}

export function AgentDialog(props: AgentDialogProps) {
  switch (props.action) {
    case 'grant':
      return <GrantDialog {...props} />;
    case 'silence':
      return <SilenceDialog {...props} />;
    case 'rotate':
      return (
        <ConfirmDialog
          {...props}
          title={`Rotate the credential of ${props.agent.name}?`}
          act={() => rotateAgent(props.agent.id)}
        >
          The agent fetches a new credential with its next heartbeat. The old
          one works until the new one is used.
        </ConfirmDialog>
      );
    case 'revoke':
      return (
        <ConfirmDialog
          {...props}
          title={`Revoke ${props.agent.name}?`}
          act={() => revokeAgent(props.agent.id)}
        >
          Its credential is refused at once and for good, its jobs end, and the
          agent stops. What it measured stays. To use the host again, enrol it
          again.
        </ConfirmDialog>
      );
    case 'replace':
      return <ReplaceDialog {...props} />;
  }
}

function Dialog({
  title,
  error,
  onClose,
  children,
}: {
  title: string;
  error: Error | null;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="sm">
        {children}
        {error !== null && (
          <Alert
            color="red"
            variant="outline"
            role="alert"
            icon={<Icon name="warning" />}
          >
            Not done: {error.message}
          </Alert>
        )}
      </Stack>
    </Modal>
  );
}

function useRefetch() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: agentKeys.all });
}

function ConfirmDialog({
  action,
  title,
  act,
  onClose,
  children,
}: AgentDialogProps & {
  title: string;
  act: () => Promise<EnrolledAgent>;
  children: ReactNode;
}) {
  const refetch = useRefetch();
  const change = useMutation({
    mutationFn: act,
    onSuccess: onClose,
    onSettled: refetch,
  });
  return (
    <Dialog title={title} error={change.error} onClose={onClose}>
      <p style={{ margin: 0 }}>{children}</p>
      <Group>
        <Button loading={change.isPending} onClick={() => change.mutate()}>
          {ACTION_LABELS[action]}
        </Button>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
      </Group>
    </Dialog>
  );
}

function GrantDialog({ agent, onClose }: AgentDialogProps) {
  const [draft, setDraft] = useState(draftOf(agent.grant));
  const refetch = useRefetch();
  const change = useMutation({
    mutationFn: () => setGrant(agent.id, grantOf(draft)),
    onSuccess: onClose,
    onSettled: refetch,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Dialog
      title={`What ${agent.name} may do`}
      error={change.error}
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <GrantFields draft={draft} onDraft={setDraft} />
          <Group>
            <Button
              type="submit"
              loading={change.isPending}
              disabled={!isComplete(draft)}
            >
              Save
            </Button>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

const HOUR_S = 3600;

function SilenceDialog({ agent, onClose }: AgentDialogProps) {
  const limit = agent.silence_limit_s;
  const [hours, setHours] = useState<number | ''>(
    limit === null ? '' : limit / HOUR_S,
  );
  const refetch = useRefetch();
  const change = useMutation({
    mutationFn: () =>
      setSilenceLimit(
        agent.id,
        hours === '' ? null : Math.round(hours * HOUR_S),
      ),
    onSuccess: onClose,
    onSettled: refetch,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Dialog
      title={`How long ${agent.name} may be silent`}
      error={change.error}
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <NumberInput
            label="Hours without a heartbeat"
            description="After that its projects get an alert. Empty: never. Maintenance is no silence."
            value={hours}
            min={0.2}
            max={2160}
            decimalScale={2}
            suffix=" h"
            onChange={(value) => setHours(value === '' ? '' : Number(value))}
          />
          <Group>
            <Button type="submit" loading={change.isPending}>
              Save
            </Button>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function ReplaceDialog({ agent, onClose }: AgentDialogProps) {
  const refetch = useRefetch();
  const create = useMutation({
    mutationFn: () => createEnrolmentCode({ replaces: agent.id }),
    onSettled: refetch,
  });
  return (
    <Dialog
      title={`Enrol ${agent.name} again`}
      error={create.error}
      onClose={onClose}
    >
      <p style={{ margin: 0 }}>
        The new agent gets the grant and the targets of this one, which is
        revoked when the code is used.
      </p>
      {create.data === undefined ? (
        <Group>
          <Button loading={create.isPending} onClick={() => create.mutate()}>
            Create code
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      ) : (
        <EnrolCommand {...create.data} />
      )}
    </Dialog>
  );
}
