/** Keyset paging: forward by cursor, back to the start; the browser's back button does the rest. */
import { Button, Group } from '@mantine/core';

export interface PagerProps {
  cursor: string | undefined;
  next: string | null;
  onCursor: (cursor: string | undefined) => void;
}

export function Pager({ cursor, next, onCursor }: PagerProps) {
  if (cursor === undefined && next === null) return null;
  return (
    <Group justify="flex-end" p="sm" gap="xs">
      <Button
        variant="default"
        size="xs"
        disabled={cursor === undefined}
        onClick={() => onCursor(undefined)}
      >
        First page
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={next === null}
        onClick={() => onCursor(next ?? undefined)}
      >
        Next page
      </Button>
    </Group>
  );
}
