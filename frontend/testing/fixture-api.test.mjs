// Test of `npm run dev:fixtures`: the development server answers the API from the fixtures.

import { createServer } from 'vite';

import { fixtureApi } from './fixture-api.ts';

it('answers requests of the pages with the fixtures', async () => {
  const server = await createServer({
    configFile: false,
    logLevel: 'error',
    optimizeDeps: { noDiscovery: true },
    plugins: [fixtureApi()],
    server: { host: '127.0.0.1', port: 0 },
  });
  try {
    await server.listen();
    const { port } = server.httpServer.address();
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/runs`);
    expect(response.status).toBe(200);
    const { items } = await response.json();
    expect(items.length).toBeGreaterThan(0);
  } finally {
    await server.close();
  }
});
