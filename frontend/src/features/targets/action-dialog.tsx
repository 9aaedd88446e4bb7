/** Asks to confirm an action on a target: says what it does, takes a reason, and shows why the server refused it. */
import {
  Alert,
  Button,
  Group,
  Modal,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { FormEvent } from 'react';

import { Icon } from '../../ui/icon';
import type { ActionText } from './target-texts';

export interface Draft {
  reason: string;
  /** Local time in the format of the field; empty if there is no end. */
  until: string;
}

export interface ActionDialogProps {
  opened: boolean;
  words: ActionText;
  name: string;
  withUntil: boolean;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  error: Error | null;
  onClose: () => void;
  onConfirm: () => void;
}

export function ActionDialog(props: ActionDialogProps) {
  const { opened, words, name, draft, error, onClose, onConfirm } = props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={words.title(name)}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <p style={{ margin: 0 }}>{words.meaning}</p>
          <Fields {...props} />
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
          <Group>
            <Button
              type="submit"
              disabled={words.reason === 'needed' && draft.reason.trim() === ''}
            >
              {words.confirm}
            </Button>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function Fields({ words, withUntil, draft, onDraft }: ActionDialogProps) {
  return (
    <>
      {words.reason !== 'none' && (
        <Textarea
          label="Reason"
          description="Kept in the target's history and the audit log."
          required={words.reason === 'needed'}
          data-autofocus
          autosize
          minRows={2}
          maxLength={500}
          value={draft.reason}
          onChange={(event) =>
            onDraft({ ...draft, reason: event.currentTarget.value })
          }
        />
      )}
      {withUntil && (
        <TextInput
          type="datetime-local"
          label="Until"
          description="Ends automatically. Leave empty to end it by hand."
          value={draft.until}
          onChange={(event) =>
            onDraft({ ...draft, until: event.currentTarget.value })
          }
        />
      )}
    </>
  );
}
