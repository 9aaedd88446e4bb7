/** A command to copy into a terminal. */
import { CopyButton, Button, Group } from '@mantine/core';

export function CodeBox({ text }: { text: string }) {
  return (
    <Group gap="xs" justify="center">
      <code
        className="pl-mono"
        style={{
          background: 'var(--pl-sunken)',
          padding: '0.35rem 0.6rem',
          borderRadius: 6,
        }}
      >
        {text}
      </code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="default" onClick={copy}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
