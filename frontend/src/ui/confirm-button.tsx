/** A button that asks to confirm its action, says what it does, and shows why the server refused it. */
import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';

import { Icon } from './icon';

export interface ConfirmButtonProps {
  label: string;
  /** Accessible name, if the label does not say which object it concerns. */
  name?: string;
  title: string;
  /** What the action does and does not do. */
  meaning: string;
  confirm: string;
  action: () => Promise<unknown>;
  onDone: () => void;
}

export function ConfirmButton(props: ConfirmButtonProps) {
  const {
    label,
    name = label,
    title,
    meaning,
    confirm,
    action,
    onDone,
  } = props;
  const [opened, { open, close }] = useDisclosure();
  const acting = useMutation({
    mutationFn: action,
    onSuccess: () => {
      close();
      onDone();
    },
  });
  return (
    <>
      <Button
        variant="default"
        size="xs"
        aria-label={name}
        onClick={() => {
          acting.reset();
          open();
        }}
      >
        {label}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={title}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack gap="sm">
          <p style={{ margin: 0 }}>{meaning}</p>
          {acting.error !== null && (
            <Alert
              color="red"
              variant="outline"
              role="alert"
              icon={<Icon name="warning" />}
            >
              Not done: {acting.error.message}
            </Alert>
          )}
          <Group>
            <Button loading={acting.isPending} onClick={() => acting.mutate()}>
              {confirm}
            </Button>
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
