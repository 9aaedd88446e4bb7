/** Calling a change expected asks for the commit the new baseline starts at: what came before is the past. */
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
  /** The commit offered: where the change was seen. */
  suggested: string | null;
  /** Several alerts may each keep the commit they blame: then the field may stay empty. */
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
      title="Expected: a new baseline"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label="The new baseline starts at commit"
            description={`From this commit on the new level is the one that later changes are held against.${
              optional
                ? ' Left empty: for each alert, the commit it blames.'
                : ''
            }`}
            required={!optional}
            data-autofocus
            value={commit}
            maxLength={100}
            onChange={(event) => setCommit(event.currentTarget.value)}
          />
          <Textarea
            label="Why it is expected"
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
