/** Shows a link or token once, with a button to copy it and a warning that it is not shown again. */
import { Alert, CopyButton, Button, Stack } from '@mantine/core';

import { Icon } from './icon';

export interface OneTimeSecretProps {
  title: string;
  secret: string;
  /** What to do with the secret. */
  advice: string;
  onClose: () => void;
}

export function OneTimeSecret({
  title,
  secret,
  advice,
  onClose,
}: OneTimeSecretProps) {
  return (
    <Alert
      color="blue"
      variant="outline"
      role="status"
      icon={<Icon name="lock" />}
      title={title}
      withCloseButton
      closeButtonLabel="Hide"
      onClose={onClose}
      m="sm"
    >
      <Stack gap="xs" align="flex-start">
        <code
          className="pl-mono"
          style={{
            background: 'var(--pl-sunken)',
            padding: '0.35rem 0.6rem',
            borderRadius: 6,
            overflowWrap: 'anywhere',
          }}
        >
          {secret}
        </code>
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button size="compact-xs" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
        <span>{advice} It is not shown again.</span>
      </Stack>
    </Alert>
  );
}
