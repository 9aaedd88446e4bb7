/** Handlers of the fake server for suites, agents, targets, the actions on targets, and imports. */
import { http, HttpResponse, type HttpHandler } from 'msw';

import type { Order, Target } from '../api/types';
import { ada, NOW } from './fixtures';
import { document as imported } from './fixtures-imports';
import { problem } from './problems';
import type { FakeBackend } from './fake-backend';

const API = '*/api/v1';
/** The content of a file that is no tool's. */
export const NONSENSE = 'nonsense';
const notFound = () => problem(404, 'not_found', 'There is no such thing.');
const page = (items: readonly unknown[], next: string | null = null) =>
  HttpResponse.json({ items, next });

function matches(
  { kind, state, health, simulated, name, serial }: Target,
  query: URLSearchParams,
): boolean {
  const words = (query.get('q') ?? '').toLowerCase();
  return (
    (query.get('kind') ?? kind) === kind &&
    (query.get('state') ?? state) === state &&
    (query.get('health') ?? health.state) === health.state &&
    (query.get('simulated') ?? String(simulated)) === String(simulated) &&
    `${name} ${serial}`.toLowerCase().includes(words)
  );
}

function readHandlers(backend: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/suites`, () => page(backend.suites)),
    http.get(`${API}/agents`, () => page(backend.agents)),
    http.get(`${API}/targets`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      return page(backend.targets.filter((target) => matches(target, query)));
    }),
    http.get(`${API}/targets/:id`, ({ params }) => {
      const target = backend.targets.find(({ id }) => id === params['id']);
      return target === undefined ? notFound() : HttpResponse.json(target);
    }),
    http.get(`${API}/targets/:id/events`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      const { events, olderEvents } = backend.fleet;
      const wanted = query.get('axis');
      const of = (all: typeof events) =>
        all.filter(({ axis }) => wanted === null || axis === wanted);
      return query.has('cursor')
        ? page(of(olderEvents))
        : page(of(events), 'older');
    }),
    http.get(`${API}/targets/:id/conditions`, ({ request }) => {
      backend.fleet.windows.push(new URL(request.url).searchParams.get('from'));
      return HttpResponse.json(backend.fleet.conditions);
    }),
  ];
}

const now = () => new Date(NOW).toISOString();

function pendingOrderOf(kind: Order['kind']): Order {
  const by = { requested_by: ada.name, requested_at: now() };
  return { id: `order-${kind}`, kind, life: 'pending', ...by, why: null };
}

/** The target that results from each action. */
const EFFECTS: Record<
  string,
  (target: Target, body: { reason?: string }) => Target
> = {
  quarantine: (target, { reason = null }) => ({
    ...target,
    health: {
      ...target.health,
      state: 'quarantined',
      reason: reason ?? null,
      advice: null,
      since: now(),
    },
    takes_jobs: {
      ok: false,
      words: `takes no jobs: it is in quarantine: ${reason}`,
    },
    actions: ['maintenance', 'release', 'recheck', 'reboot'],
  }),
  release: (target) => ({
    ...target,
    health: {
      ...target.health,
      state: 'checking',
      reason: 'released by a person',
      failures: 0,
    },
    takes_jobs: {
      ok: false,
      words: 'takes no jobs: its health is being checked',
    },
    actions: ['maintenance', 'quarantine', 'recheck', 'reboot'],
  }),
  recheck: (target) => ({
    ...target,
    orders: [...target.orders, pendingOrderOf('check')],
  }),
  reboot: (target) => ({
    ...target,
    orders: [...target.orders, pendingOrderOf('reboot')],
  }),
};

function writeHandlers(backend: FakeBackend): HttpHandler[] {
  const change = (
    id: unknown,
    action: string,
    body: unknown,
    make: (target: Target) => Target,
  ) => {
    const index = backend.targets.findIndex((target) => target.id === id);
    const target = backend.targets[index];
    if (target === undefined) return notFound();
    backend.fleet.asked.push({ action, body });
    backend.targets[index] = make(target);
    return HttpResponse.json(backend.targets[index]);
  };
  return [
    http.put(`${API}/targets/:id/maintenance`, async ({ params, request }) => {
      const body = (await request.json()) as {
        on: boolean;
        reason: string | null;
        until: string | null;
      };
      const { on, reason, until } = body;
      return change(params['id'], 'maintenance', body, (target) => ({
        ...target,
        hold: on ? 'maintenance' : null,
        hold_reason: on ? reason : null,
        maintenance: on ? { by: ada.name, reason, until, since: now() } : null,
        takes_jobs: on
          ? {
              ok: false,
              words: `takes no jobs: Ada has it in maintenance: ${reason}`,
            }
          : { ok: true, words: 'takes jobs' },
      }));
    }),
    ...Object.entries(EFFECTS).map(([action, effect]) =>
      http.post(`${API}/targets/:id/${action}`, async ({ params, request }) => {
        const text = await request.text();
        const body = (text === '' ? {} : JSON.parse(text)) as {
          reason?: string;
        };
        return change(params['id'], action, body, (target) =>
          effect(target, body),
        );
      }),
    ),
  ];
}

function importHandlers({ fleet }: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/imports`, () => page(fleet.imports)),
    http.post(`${API}/imports/preview`, async ({ request }) =>
      (await request.text()) === NONSENSE
        ? problem(400, 'invalid_request', 'No reader can read it.', {
            'pytest-benchmark': 'Object missing required field `stats`',
            hyperfine: 'Object missing required field `results`',
            asv: 'Object missing required field `results`',
            catch2: 'its output is not XML: line 1 column 1',
            go: 'it has no benchmark that this reader knows',
          })
        : HttpResponse.json(fleet.preview),
    ),
    http.post(`${API}/imports/files`, ({ request }) => {
      const query = Object.fromEntries(new URL(request.url).searchParams);
      fleet.stored.push(query);
      if (query['on'] === 'refused')
        return problem(403, 'forbidden', 'You may not import.');
      const title = query['file'] ?? '';
      const before = fleet.imports.find((other) => other.title === title);
      if (before !== undefined) return HttpResponse.json(before);
      const id = `import-${fleet.imports.length + 1}`;
      const stored = { ...imported, id, title, source: title };
      fleet.imports = [stored, ...fleet.imports];
      return HttpResponse.json(stored, { status: 201 });
    }),
    http.get(`${API}/imports/:id`, ({ params }) => {
      const document = fleet.imports.find(({ id }) => id === params['id']);
      return document === undefined ? notFound() : HttpResponse.json(document);
    }),
    http.delete(`${API}/imports/:id`, ({ params }) => {
      fleet.imports = fleet.imports.filter(({ id }) => id !== params['id']);
      return new HttpResponse(null, { status: 204 });
    }),
  ];
}

export function fleetHandlers(backend: FakeBackend): HttpHandler[] {
  return [
    ...readHandlers(backend),
    ...writeHandlers(backend),
    ...importHandlers(backend),
  ];
}
