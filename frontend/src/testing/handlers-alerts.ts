/** The fixture API of alerts: the inbox, one alert, why it was raised, and what people decide about it. */
import { http, HttpResponse, type HttpHandler } from 'msw';

import type { AlertAction, AlertDetail, AlertState } from '../api/types';
import { ada } from './fixtures';
import { bisection, explanation } from './fixtures-changes';
import { alertDetail } from './fixtures-decisions';
import { problem } from './problems';
import type { World } from './world';

const notFound = () => problem(404, 'not_found', 'There is no such thing.');
const page = (items: readonly unknown[]) => HttpResponse.json({ items, next: null });
const API = '*/api/v1';

const AFTER: Record<AlertAction, AlertState> = {
  acknowledge: 'acknowledged',
  fixed: 'fixed',
  expected: 'expected',
  invalid: 'invalid',
  infra: 'infra',
  reopen: 'open',
};

function change(world: World, id: unknown, make: (alert: AlertDetail) => AlertDetail) {
  const found = world.alerts.get(String(id));
  if (found === undefined) return notFound();
  const changed = make(found);
  world.alerts.set(changed.id, changed);
  return HttpResponse.json(changed);
}

let events = 0;

function withEvent(
  alert: AlertDetail,
  action: string,
  to: AlertState | null,
  note: string | null,
): AlertDetail {
  events += 1;
  const event = {
    id: `made-${events}`,
    at: new Date().toISOString(),
    actor: ada.name,
    action,
    from_state: to === null ? null : alert.state,
    to_state: to,
    note,
  };
  const state = to ?? alert.state;
  return {
    ...alert,
    state,
    actions: alertDetail({ ...alert, state }).actions,
    history: [...alert.history, event],
  };
}

export function alertHandlers(world: World): HttpHandler[] {
  return [
    http.get(`${API}/alerts`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      return page(
        [...world.alerts.values()].filter(
          (each) =>
            (query.get('state') ?? each.state) === each.state &&
            (query.get('target') ?? each.target_id) === each.target_id,
        ),
      );
    }),
    http.get(`${API}/alerts/:id`, ({ params }) => change(world, params['id'], (alert) => alert)),
    http.get(`${API}/alerts/:id/explain`, ({ params, request }) => {
      const found = world.alerts.get(String(params['id']));
      if (found === undefined) return notFound();
      return HttpResponse.json(
        explanation(found, new URL(request.url).searchParams.get('rederive') === 'true'),
      );
    }),
    http.post(`${API}/alerts/:id/bisect`, async ({ params, request }) => {
      const { budget } = (await request.json()) as { budget: number | null };
      return change(world, params['id'], (alert) =>
        withEvent(
          { ...alert, bisection: bisection({ budget: budget ?? 6 }) },
          'bisect_started',
          null,
          'Asked for by hand.',
        ),
      );
    }),
    http.post(`${API}/alerts/:id/actions`, async ({ params, request }) => {
      const body = (await request.json()) as { action: AlertAction; note?: string };
      return change(world, params['id'], (alert) =>
        withEvent(alert, body.action, AFTER[body.action], body.note ?? null),
      );
    }),
    http.post(`${API}/alerts/:id/notes`, async ({ params, request }) => {
      const { note } = (await request.json()) as { note: string };
      return change(world, params['id'], (alert) => withEvent(alert, 'note', null, note));
    }),
    http.put(`${API}/alerts/:id/assignee`, async ({ params, request }) => {
      const { account_id: id } = (await request.json()) as { account_id: string | null };
      return change(world, params['id'], (alert) => ({
        ...alert,
        assignee: world.accounts.find((each) => each.id === id) ?? null,
      }));
    }),
  ];
}
