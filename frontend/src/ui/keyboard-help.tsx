/** The list of shortcuts of a page, and the switch that turns them off. */
import { Button, Kbd, Modal, Switch, Table } from '@mantine/core';

import { Icon } from './icon';
import { useShortcutsEnabled } from './use-shortcuts';

export type ShortcutList = readonly (readonly [key: string, what: string])[];

export interface KeyboardHelpProps {
  keys: ShortcutList;
  opened: boolean;
  onToggle: (opened: boolean) => void;
}

export function KeyboardHelp({ keys, opened, onToggle }: KeyboardHelpProps) {
  const [enabled, setEnabled] = useShortcutsEnabled();
  return (
    <>
      <Button
        variant="default"
        visibleFrom="sm"
        onClick={() => onToggle(true)}
        leftSection={<Icon name="keyboard" size={16} />}
      >
        Keyboard
      </Button>
      <Modal
        opened={opened}
        onClose={() => onToggle(false)}
        title="Keyboard"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Table>
          <Table.Tbody>
            {keys.map(([key, what]) => (
              <Table.Tr key={key}>
                <Table.Td w={90}>
                  <Kbd>{key}</Kbd>
                </Table.Td>
                <Table.Td>{what}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Switch
          mt="md"
          checked={enabled}
          label="Single-key shortcuts"
          description="Switch them off if they get in the way of your speech input or screen reader."
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
      </Modal>
    </>
  );
}
