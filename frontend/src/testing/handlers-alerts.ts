/** Handlers of the fake server for alerts: the inbox, one alert, its explanation, and decisions about it. */
import { http, HttpResponse, type HttpHandler } from 'msw';

import type {
  AlertAction,
  AlertDetail,
  AlertState,
  BulkRequest,
  TriageBatch,
} from '../api/types';
import { ada } from './fixtures';
import { bisection, explanation } from './fixtures-changes';
import { alertDetail } from './fixtures-decisions';
import { problem } from './problems';
import type { FakeBackend } from './fake-backend';

const notFound = () => problem(404, 'not_found', 'There is no such thing.');
const page = (items: readonly unknown[]) =>
  HttpResponse.json({ items, next: null });
const API = '*/api/v1';

const AFTER: Record<AlertAction, AlertState> = {
  acknowledge: 'acknowledged',
  fixed: 'fixed',
  expected: 'expected',
  invalid: 'invalid',
  infra: 'infra',
  reopen: 'open',
};

function change(
  backend: FakeBackend,
  id: unknown,
  make: (alert: AlertDetail) => AlertDetail,
) {
  const alert = backend.alerts.get(String(id));
  if (alert === undefined) return notFound();
  const changed = make(alert);
  backend.alerts.set(changed.id, changed);
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

function filterAlerts(
  backend: FakeBackend,
  query: URLSearchParams,
): AlertDetail[] {
  return [...backend.alerts.values()].filter(
    (alert) =>
      (query.get('state') ?? alert.state) === alert.state &&
      (query.get('target') ?? alert.target_id) === alert.target_id &&
      (query.get('kind') ?? alert.kind) === alert.kind &&
      (query.get('cause') ?? alert.cause) === alert.cause &&
      (query.get('rule') ?? alert.rule_id) === alert.rule_id &&
      (query.get('overdue') === null || alert.overdue) &&
      (query.get('shadow') === 'true') === alert.shadow &&
      alert.title.includes(query.get('text') ?? ''),
  );
}

function bulkHandlers(backend: FakeBackend): HttpHandler[] {
  const { bulk } = backend.decisions;
  return [
    http.post(`${API}/alerts/bulk`, async ({ request }) => {
      const body = (await request.json()) as BulkRequest;
      const chosen = body.alert_ids
        .map((id) => backend.alerts.get(id))
        .filter((alert) => alert !== undefined);
      const refused = chosen.filter(
        (alert) => body.action && !alert.actions.includes(body.action),
      );
      if (refused.length > 0) {
        return problem(
          409,
          'bulk_refused',
          `${refused.length} of ${chosen.length} alerts refuse; nothing was changed.`,
          Object.fromEntries(
            refused.map((alert) => [alert.id, `It is ${alert.state}.`]),
          ),
        );
      }
      bulk.push({ body, before: chosen });
      for (const alert of chosen) {
        const decided = body.action
          ? withEvent(alert, body.action, AFTER[body.action], body.note ?? null)
          : alert;
        const assignee = body.assign
          ? (backend.accounts.find(
              ({ id }) => id === body.assign?.account_id,
            ) ?? null)
          : decided.assignee;
        backend.alerts.set(alert.id, { ...decided, assignee });
      }
      return HttpResponse.json(batch(bulk.length - 1, body, null));
    }),
    http.post(`${API}/alerts/bulk/:id/undo`, ({ params }) => {
      const index = Number(String(params['id']).slice('batch-'.length));
      const done = bulk[index];
      if (done === undefined) return notFound();
      for (const alert of done.before) backend.alerts.set(alert.id, alert);
      return HttpResponse.json(batch(index, done.body, ada.name));
    }),
  ];
}

function batch(
  index: number,
  body: BulkRequest,
  undoneBy: string | null,
): TriageBatch {
  const now = new Date().toISOString();
  return {
    id: `batch-${index}`,
    actor: ada.name,
    action: body.action ?? 'assign',
    note: body.note ?? null,
    alerts: body.alert_ids.length,
    alert_ids: body.alert_ids,
    created_at: now,
    undo_until: now,
    undone_at: undoneBy === null ? null : now,
    undone_by: undoneBy,
  };
}

export function alertHandlers(backend: FakeBackend): HttpHandler[] {
  return [
    ...bulkHandlers(backend),
    http.get(`${API}/alerts`, ({ request }) =>
      page(filterAlerts(backend, new URL(request.url).searchParams)),
    ),
    http.get(`${API}/alerts/:id`, ({ params }) =>
      change(backend, params['id'], (alert) => alert),
    ),
    http.get(`${API}/alerts/:id/explain`, ({ params, request }) => {
      const alert = backend.alerts.get(String(params['id']));
      if (alert === undefined) return notFound();
      return HttpResponse.json(
        explanation(
          alert,
          new URL(request.url).searchParams.get('rederive') === 'true',
        ),
      );
    }),
    http.post(`${API}/alerts/:id/bisect`, async ({ params, request }) => {
      const { budget } = (await request.json()) as { budget: number | null };
      return change(backend, params['id'], (alert) =>
        withEvent(
          { ...alert, bisection: bisection({ budget: budget ?? 6 }) },
          'bisect_started',
          null,
          'Asked for by hand.',
        ),
      );
    }),
    http.post(`${API}/alerts/:id/actions`, async ({ params, request }) => {
      const body = (await request.json()) as {
        action: AlertAction;
        note?: string;
        baseline_commit?: string;
      };
      return change(backend, params['id'], (alert) =>
        withEvent(
          { ...alert, baseline_commit: body.baseline_commit ?? null },
          body.action,
          AFTER[body.action],
          body.note ?? null,
        ),
      );
    }),
    http.post(`${API}/alerts/:id/mute`, async ({ params, request }) => {
      const body = (await request.json()) as { reason: string; hours: number };
      return change(backend, params['id'], (alert) => ({
        ...alert,
        rule_id: alert.rule_id ?? 'rule-1',
        mute: {
          id: 'mute-made',
          reason: body.reason,
          until: new Date(Date.now() + body.hours * 3_600_000).toISOString(),
          muted_by: ada.name,
          created_at: new Date().toISOString(),
          ended_at: null,
        },
      }));
    }),
    http.post(`${API}/alerts/:id/notes`, async ({ params, request }) => {
      const { note } = (await request.json()) as { note: string };
      return change(backend, params['id'], (alert) =>
        withEvent(alert, 'note', null, note),
      );
    }),
    http.put(`${API}/alerts/:id/due`, async ({ params, request }) => {
      const { due_at: due } = (await request.json()) as {
        due_at: string | null;
      };
      return change(backend, params['id'], (alert) => ({
        ...alert,
        due_at: due,
      }));
    }),
    http.put(`${API}/alerts/:id/issue`, async ({ params, request }) => {
      const { url } = (await request.json()) as { url: string | null };
      return change(backend, params['id'], (alert) => ({
        ...alert,
        issue_url: url,
      }));
    }),
    http.put(`${API}/alerts/:id/assignee`, async ({ params, request }) => {
      const { account_id: id } = (await request.json()) as {
        account_id: string | null;
      };
      return change(backend, params['id'], (alert) => ({
        ...alert,
        assignee: backend.accounts.find((account) => account.id === id) ?? null,
      }));
    }),
  ];
}
