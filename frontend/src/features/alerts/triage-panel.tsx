/** Has the actions that the server allows in this state, the assignee, and a note. */
import {
  Alert as Notice,
  Button,
  Group,
  Kbd,
  Stack,
  Textarea,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type RefObject } from 'react';

import { accountsQuery, may, sessionQuery } from '../../api/session';
import type { AlertAction, AlertDetail } from '../../api/types';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { ACTION_LABELS } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { DueField, IssueField } from './due-and-issue-fields';
import { useAddNote, useAssign } from './use-triage';

export interface TriagePanelProps {
  alert: AlertDetail;
  noteRef: RefObject<HTMLTextAreaElement | null>;
  onAct: (action: AlertAction) => void;
  busy: boolean;
}

export function TriagePanel({ alert, noteRef, onAct, busy }: TriagePanelProps) {
  const session = useQuery(sessionQuery);
  if (!may(session.data, 'alerts.triage')) {
    return (
      <Panel title="Triage">
        <p style={{ margin: 0, color: 'var(--pl-muted)' }}>
          You can read alerts but not triage them. An admin of the project can
          make you a triager.
        </p>
      </Panel>
    );
  }
  return (
    <Panel title="Triage">
      <Stack gap="md">
        <Actions alert={alert} onAct={onAct} busy={busy} />
        <Assignee alert={alert} />
        <DueField alert={alert} />
        <IssueField key={alert.issue_url} alert={alert} />
        <NoteForm alertId={alert.id} noteRef={noteRef} />
      </Stack>
    </Panel>
  );
}

function Actions({
  alert,
  onAct,
  busy,
}: Pick<TriagePanelProps, 'alert' | 'onAct' | 'busy'>) {
  if (alert.actions.length === 0) {
    return (
      <p style={{ margin: 0, color: 'var(--pl-muted)' }}>
        Nothing to decide until the finding is confirmed.
      </p>
    );
  }
  return (
    <Group gap="xs">
      {alert.actions.map((action, index) => (
        <Button
          key={action}
          variant={index === 0 ? 'filled' : 'default'}
          size="xs"
          disabled={busy}
          aria-keyshortcuts={ACTION_LABELS[action].key}
          onClick={() => onAct(action)}
          rightSection={
            <Kbd size="xs" aria-hidden="true">
              {ACTION_LABELS[action].key}
            </Kbd>
          }
        >
          {ACTION_LABELS[action].label}
        </Button>
      ))}
    </Group>
  );
}

function Assignee({ alert }: { alert: AlertDetail }) {
  const accounts = useQuery(accountsQuery);
  const assign = useAssign();
  const people = accounts.data?.items ?? [];
  const known =
    alert.assignee === null ||
    people.some(({ id }) => id === alert.assignee?.id);
  const listed =
    known || alert.assignee === null ? people : [alert.assignee, ...people];
  return (
    <FilterSelect
      label="Assignee"
      all="Nobody"
      value={alert.assignee?.id}
      options={listed.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={(id) =>
        assign.mutate({
          id: alert.id,
          account: listed.find((person) => person.id === id) ?? null,
        })
      }
    />
  );
}

function NoteForm({
  alertId,
  noteRef,
}: {
  alertId: string;
  noteRef: TriagePanelProps['noteRef'];
}) {
  const [note, setNote] = useState('');
  const add = useAddNote();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate(
      { id: alertId, note: note.trim() },
      { onSuccess: () => setNote('') },
    );
  };
  return (
    <form onSubmit={submit}>
      <Textarea
        ref={noteRef}
        label="Note"
        autosize
        minRows={2}
        maxRows={10}
        maxLength={4000}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      {add.error !== null && (
        <Notice
          color="red"
          variant="outline"
          role="alert"
          mt="xs"
          icon={<Icon name="warning" />}
        >
          Note not saved: {add.error.message}
        </Notice>
      )}
      <Button
        type="submit"
        variant="default"
        size="xs"
        mt="xs"
        disabled={note.trim() === ''}
        loading={add.isPending}
      >
        Add note
      </Button>
    </form>
  );
}
