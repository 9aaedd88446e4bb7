/**
 * A vite plugin that answers /api from the msw handlers of src/testing, so that pages can be looked at
 * without a backend (`npm run dev:fixtures`). The tests use the same handlers. The plugin is never part
 * of a build.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin, ViteDevServer } from 'vite';

interface FixtureModule {
  respond: (request: Request) => Promise<Response | undefined>;
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : Buffer.concat(chunks);
}

async function toRequest(incoming: IncomingMessage): Promise<Request> {
  const method = incoming.method ?? 'GET';
  const body =
    method === 'GET' || method === 'HEAD'
      ? undefined
      : await readBody(incoming);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  const url = `http://${incoming.headers.host ?? 'localhost'}${incoming.url ?? '/'}`;
  return new Request(url, {
    method,
    headers,
    body: body === undefined ? null : new Uint8Array(body),
  });
}

async function send(
  response: Response,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body !== null) {
    const reader = response.body.getReader();
    outgoing.on('close', () => void reader.cancel().catch(() => undefined));
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      outgoing.write(value);
    }
  }
  outgoing.end();
}

async function serve(
  server: ViteDevServer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const module = (await server.ssrLoadModule(
    '/src/testing/fixture-response.ts',
  )) as unknown as FixtureModule;
  const response = await module.respond(await toRequest(incoming));
  await send(response ?? new Response('no fixture', { status: 501 }), outgoing);
}

export function fixtureApi(): Plugin {
  return {
    name: 'paceline-fixture-api',
    configureServer(server) {
      server.middlewares.use((incoming, outgoing, next) => {
        if (!incoming.url?.startsWith('/api/')) return next();
        serve(server, incoming, outgoing).catch(next);
      });
    },
  };
}
