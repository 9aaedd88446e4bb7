/** The frame of pages outside the application, such as sign-in: one card in the middle of the window. */
import { Alert, Center, Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

import { Icon } from '../../ui/icon';

export interface EntryFrameProps {
  /** Title of the document, and of the page unless `heading` is given. */
  title: string;
  heading?: string;
  children: ReactNode;
}

export function EntryFrame({ title, heading, children }: EntryFrameProps) {
  return (
    <Center
      component="main"
      mih="100vh"
      p="md"
      style={{ background: 'var(--pl-body)' }}
    >
      <title>{`${title} · Paceline`}</title>
      <Paper
        withBorder
        radius="lg"
        p="xl"
        w="100%"
        maw={420}
        bg="var(--pl-surface)"
      >
        <Stack gap="md">
          <Stack gap={4} align="center">
            <img src="/icon.svg" alt="" width={44} height={44} />
            <Title order={1} ta="center">
              {heading ?? title}
            </Title>
          </Stack>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}

export interface RefusalProps {
  title?: string;
  children: ReactNode;
}

export function Refusal({ title, children }: RefusalProps) {
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      icon={<Icon name="warning" />}
      {...(title === undefined ? {} : { title })}
    >
      {children}
    </Alert>
  );
}
