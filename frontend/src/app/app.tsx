/** Renders the providers around the router; tests render it with their own client, router and stream. */
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider, type QueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';

import { browserEventSource } from '../api/event-source-port';
import { StreamContext, type StreamSettings } from '../api/use-live-stream';
import { theme } from '../ui/theme';
import type { AppRouter } from './router';

const BROWSER_STREAM: StreamSettings = { port: browserEventSource };

export interface AppProps {
  queryClient: QueryClient;
  router: AppRouter;
  stream?: StreamSettings;
  env?: 'default' | 'test';
}

export function App({
  queryClient,
  router,
  stream = BROWSER_STREAM,
  env = 'default',
}: AppProps) {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" env={env}>
      <QueryClientProvider client={queryClient}>
        <StreamContext value={stream}>
          <RouterProvider router={router} />
          <Notifications position="bottom-right" autoClose={6000} />
        </StreamContext>
      </QueryClientProvider>
    </MantineProvider>
  );
}
