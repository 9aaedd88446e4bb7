/** What a bulk decision did, with the way back beside it. */
import { Button, Group } from '@mantine/core';

import type { TriageBatch } from '../../api/types';

export interface UndoNoticeProps {
  batch: TriageBatch;
  onUndo: () => void;
}

export function UndoNotice({ batch, onUndo }: UndoNoticeProps) {
  return (
    <Group justify="space-between" wrap="nowrap">
      <span>
        {batch.alerts === 1 ? '1 alert' : `${batch.alerts} alerts`}:{' '}
        {batch.action.replaceAll('_', ' ')}.
      </span>
      <Button size="compact-sm" variant="default" onClick={onUndo}>
        Undo
      </Button>
    </Group>
  );
}
