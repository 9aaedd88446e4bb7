/** Renders the whole application at an address with a fake backend. */
import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { createMemoryHistory } from '@tanstack/react-router';

import { FakeEventSource } from '../api/fake-event-source';
import { createQueryClient } from '../api/query-client';
import { App } from '../app/app';
import { createAppRouter } from '../app/router';
import { handlersFor } from './handlers';
import { server } from './server';
import { createFakeBackend, type FakeBackend } from './fake-backend';

export function renderApp(
  address: string,
  prepare: (backend: FakeBackend) => void = () => undefined,
) {
  const backend = createFakeBackend();
  prepare(backend);
  server.use(...handlersFor(backend));
  const stream = new FakeEventSource();
  const queryClient = createQueryClient({ retryDelayMs: 1 });
  const history = createMemoryHistory({ initialEntries: [address] });
  const router = createAppRouter(queryClient, history);
  const view = render(
    <App
      queryClient={queryClient}
      router={router}
      stream={{ port: stream, firstDelayMs: 5 }}
      env="test"
    />,
  );
  return { ...view, backend, stream, router, user: userEvent.setup() };
}
