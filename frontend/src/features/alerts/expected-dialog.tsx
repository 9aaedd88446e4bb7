/** The dialog that marks a change as expected: it asks for the commit from which the new baseline counts. */
import {
  Button,
  Group,
  Modal,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState, type FormEvent } from 'react';

export interface ExpectedDialogProps {
  opened: boolean;
  /** The commit to propose: the one at which the change was seen. */
  suggested: string | null;
  /** For several alerts the field may stay empty: each then uses the commit it blames. */
  optional?: boolean;
  onClose: () => void;
  onConfirm: (
    baselineCommit: string | undefined,
    note: string | undefined,
  ) => void;
}

export function ExpectedDialog({
  opened,
  suggested,
  optional = false,
  onClose,
  onConfirm,
}: ExpectedDialogProps) {
  const [commit, setCommit] = useState(suggested ?? '');
  const [note, setNote] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onConfirm(
      commit.trim() === '' ? undefined : commit.trim(),
      note.trim() === '' ? undefined : note.trim(),
    );
  };
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Mark as expected"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label="New baseline from commit"
            description={`Later changes are compared with the level from this commit on.${
              optional
                ? ' Leave empty to use the commit that each alert blames.'
                : ''
            }`}
            required={!optional}
            data-autofocus
            value={commit}
            maxLength={100}
            onChange={(event) => setCommit(event.currentTarget.value)}
          />
          <Textarea
            label="Reason"
            autosize
            minRows={2}
            maxLength={4000}
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
          <Group>
            <Button type="submit" disabled={!optional && commit.trim() === ''}>
              Mark as expected
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
