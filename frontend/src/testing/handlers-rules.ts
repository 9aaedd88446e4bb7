/** Handlers of the fake server for rules and policy advice. */
import { http, HttpResponse, type HttpHandler } from 'msw';

import type {
  RuleDetail,
  RuleRequest,
  ScheduleChange,
  ScheduleRequest,
} from '../api/types';
import type { FakeDecisions } from './fake-decisions';
import { ada } from './fixtures';
import { scheduleOf } from './fixtures-record';
import { brief, rule, shippedRules } from './fixtures-rules';
import { problem } from './problems';
import type { FakeBackend } from './fake-backend';

const API = '*/api/v1';
const notFound = () => problem(404, 'not_found', 'There is no such thing.');
const page = (items: readonly unknown[]) =>
  HttpResponse.json({ items, next: null });

function refused({ floor }: FakeDecisions, request: RuleRequest) {
  if (
    request.kind !== 'history' ||
    request.mode === 'off' ||
    request.min_effect >= floor
  )
    return undefined;
  const words = `at least ${(floor * 100).toFixed(1)} % on pixel-8`;
  return problem(
    422,
    'below_noise_floor',
    `The smallest effect that can be told from noise is ${words} (ledger_batch native time at batch 1,000).`,
    { min_effect: words },
  );
}

function saved(
  before: Partial<RuleDetail>,
  { owner_id: _owner, ...fields }: RuleRequest,
): RuleDetail {
  return rule({
    owner: ada,
    ...before,
    ...fields,
    created_by: ada.name,
    created_at: new Date().toISOString(),
  });
}

function changeRule(
  decisions: FakeDecisions,
  id: unknown,
  make: (stored: RuleDetail) => RuleDetail,
) {
  const index = decisions.rules.findIndex((stored) => stored.id === id);
  const stored = decisions.rules[index];
  if (stored === undefined) return notFound();
  decisions.rules[index] = make(stored);
  return HttpResponse.json(decisions.rules[index]);
}

function readHandlers({ decisions }: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/rules`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      return page(
        decisions.rules
          .filter(
            (stored) =>
              (query.get('mode') ?? stored.mode) === stored.mode &&
              (query.get('kind') ?? stored.kind) === stored.kind,
          )
          .map(brief),
      );
    }),
    http.get(`${API}/rules/orphans`, () =>
      HttpResponse.json(decisions.orphans),
    ),
    http.get(`${API}/rules/shipped`, () => page(shippedRules)),
    http.get(`${API}/rules/applied`, ({ request }) => {
      const kind = new URL(request.url).searchParams.get('kind');
      return kind === 'arm_slower'
        ? HttpResponse.json(decisions.appliedToArms)
        : notFound();
    }),
    http.get(`${API}/rules/:id`, ({ params }) =>
      changeRule(decisions, params['id'], (stored) => stored),
    ),
    http.get(`${API}/rules/:id/versions`, () => page(decisions.versions)),
  ];
}

function writeHandlers({ decisions }: FakeBackend): HttpHandler[] {
  return [
    http.post(`${API}/rules/replay`, async ({ request }) => {
      const body = (await request.json()) as FakeDecisions['replays'][number];
      decisions.replays.push(body);
      return HttpResponse.json({ ...decisions.replay, days: body.days });
    }),
    http.post(`${API}/rules`, async ({ request }) => {
      const body = (await request.json()) as RuleRequest;
      const no = refused(decisions, body);
      if (no !== undefined) return no;
      const made = saved(
        { id: `rule-${decisions.rules.length + 1}`, version: 1, mutes: [] },
        body,
      );
      decisions.rules.push(made);
      return HttpResponse.json(made, { status: 201 });
    }),
    http.put(`${API}/rules/:id`, async ({ params, request }) => {
      const { based_on: basedOn, ...body } =
        (await request.json()) as RuleRequest & { based_on: number };
      const no = refused(decisions, body);
      if (no !== undefined) return no;
      return changeRule(decisions, params['id'], (stored) =>
        saved({ ...stored, version: basedOn + 1 }, body),
      );
    }),
    http.delete(`${API}/rules/:id`, ({ params }) => {
      decisions.rules = decisions.rules.filter(({ id }) => id !== params['id']);
      return new HttpResponse(null, { status: 204 });
    }),
    http.post(`${API}/rules/:id/mute`, async ({ params, request }) => {
      const { reason, hours } = (await request.json()) as {
        reason: string;
        hours: number;
      };
      const at = Date.now();
      const mute = {
        id: 'mute-new',
        reason,
        until: new Date(at + hours * 3_600_000).toISOString(),
        muted_by: ada.name,
        created_at: new Date(at).toISOString(),
        ended_at: null,
      };
      return changeRule(decisions, params['id'], (stored) => ({
        ...stored,
        mute,
        mutes: [mute, ...stored.mutes],
      }));
    }),
    http.post(`${API}/rules/:id/unmute`, ({ params }) =>
      changeRule(decisions, params['id'], (stored) => ({
        ...stored,
        mute: null,
      })),
    ),
  ];
}

function policyHandlers({ decisions }: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/policies`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      return page(
        decisions.policies.filter(
          (advice) =>
            (query.get('target') ?? advice.target_id) === advice.target_id &&
            (query.get('suite') ?? advice.suite) === advice.suite,
        ),
      );
    }),
    http.get(`${API}/policies/history`, () => page(decisions.policyHistory)),
  ];
}

function recordHandlers({ decisions }: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/installation/audit`, () =>
      page([
        {
          ...decisions.audit[0],
          id: 900,
          action: 'promote',
          object_kind: 'account',
          object_id: 'acc-grace',
          words: 'Ada made account Grace an admin of the installation.',
        },
      ]),
    ),
    http.get(`${API}/audit`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      return page(
        decisions.audit.filter(
          (entry) =>
            (query.get('object_kind') ?? entry.object_kind) ===
              entry.object_kind &&
            (query.get('actor') ?? entry.actor) === entry.actor &&
            (query.get('actor_kind') ?? entry.actor_kind) ===
              entry.actor_kind &&
            (query.get('from') ?? entry.at) <= entry.at &&
            (query.get('object_id') ?? entry.object_id) === entry.object_id,
        ),
      );
    }),
    http.get(`${API}/targets-by-noise`, () =>
      HttpResponse.json(decisions.targetsNoise),
    ),
    http.get(`${API}/noise-floors`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      return page(
        decisions.floors.filter(
          (noiseFloor) =>
            (query.get('target') ?? noiseFloor.target_id) ===
            noiseFloor.target_id,
        ),
      );
    }),
  ];
}

function scheduleHandlers({ decisions, targets }: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/schedules`, () => page(decisions.schedules)),
    http.post(`${API}/schedules`, async ({ request }) => {
      const {
        benchmarks: _all,
        target_id: target,
        ...body
      } = (await request.json()) as ScheduleRequest;
      const made = scheduleOf({
        ...body,
        launches: body.launches ?? null,
        id: `schedule-${decisions.schedules.length + 1}`,
        target_id: target ?? null,
        target_name: targets.find(({ id }) => id === target)?.name ?? null,
      });
      decisions.schedules.push(made);
      return HttpResponse.json(made, { status: 201 });
    }),
    http.patch(`${API}/schedules/:id`, async ({ params, request }) => {
      const change = (await request.json()) as ScheduleChange;
      const index = decisions.schedules.findIndex(
        ({ id }) => id === params['id'],
      );
      const schedule = decisions.schedules[index];
      if (schedule === undefined) return notFound();
      decisions.schedules[index] = {
        ...schedule,
        enabled: change.enabled ?? schedule.enabled,
        every_s: change.every_s ?? schedule.every_s,
      };
      return HttpResponse.json(decisions.schedules[index]);
    }),
    http.delete(`${API}/schedules/:id`, ({ params }) => {
      decisions.schedules = decisions.schedules.filter(
        ({ id }) => id !== params['id'],
      );
      return new HttpResponse(null, { status: 204 });
    }),
  ];
}

export function decisionHandlers(backend: FakeBackend): HttpHandler[] {
  return [
    ...readHandlers(backend),
    ...writeHandlers(backend),
    ...policyHandlers(backend),
    ...recordHandlers(backend),
    ...scheduleHandlers(backend),
  ];
}
