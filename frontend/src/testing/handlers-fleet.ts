/** The fixture API of suites, agents and targets, and of what people do about targets. */
import { http, HttpResponse, type HttpHandler } from 'msw';

import type { Order, Target } from '../api/types';
import { ada, NOW } from './fixtures';
import { problem } from './problems';
import type { FakeBackend } from './fake-backend';

const API = '*/api/v1';
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
      return page(backend.targets.filter((each) => matches(each, query)));
    }),
    http.get(`${API}/targets/:id`, ({ params }) => {
      const found = backend.targets.find(({ id }) => id === params['id']);
      return found === undefined ? notFound() : HttpResponse.json(found);
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

function waiting(kind: Order['kind']): Order {
  const asked = { requested_by: ada.name, requested_at: now() };
  return { id: `order-${kind}`, kind, life: 'pending', ...asked, why: null };
}

/** What the server makes of each action. */
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
    orders: [...target.orders, waiting('check')],
  }),
  reboot: (target) => ({
    ...target,
    orders: [...target.orders, waiting('reboot')],
  }),
};

function writeHandlers(backend: FakeBackend): HttpHandler[] {
  const change = (
    id: unknown,
    action: string,
    body: unknown,
    make: (target: Target) => Target,
  ) => {
    const index = backend.targets.findIndex((each) => each.id === id);
    const found = backend.targets[index];
    if (found === undefined) return notFound();
    backend.fleet.asked.push({ action, body });
    backend.targets[index] = make(found);
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
      return change(params['id'], 'maintenance', body, (found) => ({
        ...found,
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
        return change(params['id'], action, body, (found) =>
          effect(found, body),
        );
      }),
    ),
  ];
}

function importHandlers({ fleet }: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/imports`, () => page(fleet.imports)),
    http.get(`${API}/imports/:id`, ({ params }) => {
      const found = fleet.imports.find(({ id }) => id === params['id']);
      return found === undefined ? notFound() : HttpResponse.json(found);
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
