/** Shows why the server refused a change, or nothing without an error. */
import { Alert } from '@mantine/core';

import { Icon } from './icon';

export function NotChangedNotice({ error }: { error: Error | null }) {
  if (error === null) return null;
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      mt="xs"
      icon={<Icon name="warning" />}
    >
      Not changed: {error.message}
    </Alert>
  );
}
