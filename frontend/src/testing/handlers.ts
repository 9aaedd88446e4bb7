/** The msw handlers of the fake server, over the state in fake-backend.ts. */
import { http, HttpResponse, type HttpHandler } from 'msw';

import type {
  RunEstimate,
  RunRequest,
  Target,
  WaiverRequest,
} from '../api/types';
import { job, liveRun, run } from './fixtures';
import { agentHandlers } from './handlers-agents';
import { alertHandlers } from './handlers-alerts';
import { fleetHandlers } from './handlers-fleet';
import { channelHandlers } from './fake-channels';
import { peopleHandlers } from './fake-people';
import { historyHandlers } from './handlers-history';
import { decisionHandlers } from './handlers-rules';
import { problem } from './problems';
import { arms, distribution, report, type FakeBackend } from './fake-backend';

const notFound = () => problem(404, 'not_found', 'There is no such thing.');
const page = (items: readonly unknown[], next: string | null = null) =>
  HttpResponse.json({ items, next });
const API = '*/api/v1';

function isSignedIn(backend: FakeBackend): boolean {
  return backend.signedIn && backend.session !== null;
}

function checkRequest(backend: FakeBackend): HttpHandler {
  return http.all(`${API}/*`, ({ request }) => {
    const { pathname, searchParams } = new URL(request.url);
    backend.projects.add(searchParams.get('project'));
    const { failure } = backend;
    if (
      failure !== null &&
      (failure.path === undefined || failure.path.test(pathname))
    ) {
      return problem(failure.status, failure.code, failure.detail);
    }
    if (!isSignedIn(backend) && !/\/(session|version)/.test(pathname)) {
      return problem(401, 'unauthenticated', 'Sign in first.');
    }
    return undefined;
  });
}

function sessionHandlers(backend: FakeBackend): HttpHandler[] {
  const enter = () => {
    backend.signedIn = true;
    return HttpResponse.json(backend.session);
  };
  return [
    http.get(`${API}/version`, () => HttpResponse.json({ version: '1.2.3' })),
    http.get(`${API}/session`, ({ request }) => {
      if (!isSignedIn(backend))
        return problem(401, 'unauthenticated', 'Sign in first.');
      const named = new URL(request.url).searchParams.get('project');
      const own = backend.hasDefault ? backend.session?.project : null;
      return HttpResponse.json({ ...backend.session, project: named ?? own });
    }),
    http.post(`${API}/session/link`, async ({ request }) => {
      const { token } = (await request.json()) as { token: string };
      return token === 'good'
        ? enter()
        : problem(401, 'unauthenticated', 'The link is not valid any more.');
    }),
    http.post(`${API}/session`, async ({ request }) => {
      const { password } = (await request.json()) as { password: string };
      return password === 'right'
        ? enter()
        : problem(401, 'unauthenticated', 'Wrong e-mail or password.');
    }),
    http.delete(`${API}/session`, () => {
      backend.signedIn = false;
      return new HttpResponse(null, { status: 204 });
    }),
    http.get(`${API}/accounts`, () => page(backend.accounts)),
  ];
}

const durationWords = ({ target_name: name }: { target_name: string }) =>
  `${name}: about 1 min 40 s, as the last 3 runs of the same choice took 1 min 30 s to 2 min`;

/** Makes the estimate of a suite whose native arm was 3.3 times as fast. */
function estimateOf(body: RunRequest, targets: readonly Target[]): RunEstimate {
  const about = targets.map(({ id, name }) => ({
    target_id: id,
    target_name: name,
  }));
  const percent = 240;
  const chosen = Number(body.knobs?.['native_slowdown_percent'] ?? 0);
  const nothing =
    chosen > 0 && chosen <= percent ? `. ${chosen} % will show nothing` : '';
  return {
    words: `${about.map(durationWords).join('; ')}. Up to three times that where a verdict stays open.`,
    targets: about.map((target) => ({
      ...target,
      cases: 8,
      seconds: 100,
      least_s: 12,
      based_on: 3,
      same_choice: true,
      words: durationWords(target),
    })),
    slowdowns: about.map((target) => ({
      ...target,
      knob: 'native_slowdown_percent',
      percent,
      everywhere_percent: percent,
      words:
        `${target.target_name}: native was 3.3 times as fast as fallback at batch=1000 last; ` +
        `more than ${percent} % makes it slower there${nothing}`,
    })),
  };
}

function runHandlers(backend: FakeBackend): HttpHandler[] {
  const findRun = (id: unknown) =>
    backend.runs.find((stored) => stored.id === id);
  return [
    http.get(`${API}/runs`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      return page(
        backend.runs.filter(
          (stored) =>
            (query.get('state') ?? stored.state) === stored.state &&
            (query.get('suite') ?? stored.suite) === stored.suite &&
            (query.get('trigger') ?? stored.trigger) === stored.trigger &&
            (!query.has('target') ||
              stored.jobs.some(
                ({ target_id: id }) => id === query.get('target'),
              )),
        ),
      );
    }),
    http.post(`${API}/runs`, async ({ request }) => {
      const body = (await request.json()) as RunRequest;
      backend.requested.push(body);
      const made = run({
        ...liveRun,
        id: `run-new-${backend.requested.length}`,
        state: 'queued',
        outcome: 'queued',
        knobs: body.knobs ?? {},
        jobs: [
          job({
            id: 'job-new',
            state: 'queued',
            verdict: null,
            reason: null,
            progress: null,
            samples: 0,
            finished_at: null,
            started_at: null,
          }),
        ],
      });
      backend.runs.unshift(made);
      return HttpResponse.json(made, { status: 201 });
    }),
    http.post(`${API}/runs/estimate`, async ({ request }) => {
      const body = (await request.json()) as RunRequest;
      const targets = backend.targets.filter(
        ({ id }) => body.targets?.includes(id) ?? id === 'target-1',
      );
      return HttpResponse.json(estimateOf(body, targets));
    }),
    http.get(`${API}/runs/:id`, ({ params }) => {
      const stored = findRun(params['id']);
      return stored === undefined ? notFound() : HttpResponse.json(stored);
    }),
    http.post(`${API}/waivers`, async ({ request }) => {
      const body = (await request.json()) as WaiverRequest;
      backend.waivers.push(body);
      const waived = {
        waiver_id: 'wvr_1',
        alert_id: null,
        by: 'Ada',
        reason: body.reason,
        until: body.expires_at,
        words: `waived by Ada: ${body.reason}`,
      };
      for (const [id, own] of backend.reports)
        backend.reports.set(id, {
          ...own,
          gates: own.gates.map((gate) =>
            gate.verdict === 'fail' && gate.arm === body.arm
              ? { ...gate, waived }
              : gate,
          ),
        });
      return HttpResponse.json({ id: 'wvr_1', ...body }, { status: 201 });
    }),
    http.get(`${API}/runs/:id/comparisons`, () => page(backend.comparisons)),
    http.post(`${API}/runs/:id/cancel`, ({ params }) => {
      const index = backend.runs.findIndex(({ id }) => id === params['id']);
      const stored = backend.runs[index];
      if (stored === undefined) return notFound();
      backend.runs[index] = {
        ...stored,
        state: 'cancelled',
        outcome: 'cancelled',
        jobs: stored.jobs.map((oldJob) => ({
          ...oldJob,
          state: 'cancelled',
          outcome: 'cancelled',
        })),
      };
      return HttpResponse.json(backend.runs[index]);
    }),
  ];
}

function after<T extends { seq: number }>(
  items: readonly T[] | undefined,
  request: Request,
): T[] {
  const from = Number(new URL(request.url).searchParams.get('after') ?? -1);
  return (items ?? []).filter(({ seq }) => seq > from);
}

function jobHandlers(backend: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/jobs/:id/log`, ({ params, request }) => {
      const lines = backend.logs.get(String(params['id']));
      if (new URL(request.url).searchParams.get('format') !== 'text')
        return page(after(lines, request));
      return HttpResponse.text(
        (lines ?? []).map(({ text }) => `${text}\n`).join(''),
      );
    }),
    http.get(`${API}/jobs/:id/conditions`, ({ params, request }) => {
      const expand = new URL(request.url).searchParams.get('expand') === 'raw';
      const readings = after(
        backend.conditions.get(String(params['id'])),
        request,
      );
      return page(
        expand
          ? readings.slice(0, 1)
          : readings.map((reading) => ({ ...reading, raw: null })),
      );
    }),
    http.get(`${API}/jobs/:id/reported`, ({ params, request }) => {
      const query = new URL(request.url).searchParams;
      const from = Number(query.get('cursor') ?? 0);
      const all = backend.reported.get(String(params['id'])) ?? [];
      const end = from + Number(query.get('limit'));
      return page(all.slice(from, end), end < all.length ? String(end) : null);
    }),
    http.get(`${API}/jobs/:id/live-series`, ({ params }) =>
      page(backend.series.get(String(params['id'])) ?? []),
    ),
    http.get(`${API}/jobs/:id/report`, ({ params }) => {
      const own = backend.reports.get(String(params['id']));
      if (own !== undefined) return HttpResponse.json(own);
      const owner = backend.runs.find(({ jobs }) =>
        jobs.some(({ id }) => id === params['id']),
      );
      return owner === undefined || owner.state !== 'done'
        ? problem(404, 'not_analysed', 'The job has not been analysed yet.')
        : HttpResponse.json(report(owner));
    }),
    http.get(`${API}/jobs/:id/distribution`, ({ params, request }) => {
      const point = JSON.parse(
        new URL(request.url).searchParams.get('params') ?? '{}',
      ) as Record<string, number>;
      return HttpResponse.json(distribution(String(params['id']), point));
    }),
  ];
}

function reportHandlers(backend: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/overview`, () => {
      const counts: Record<string, number> = {};
      for (const { state } of backend.alerts.values())
        counts[state] = (counts[state] ?? 0) + 1;
      return HttpResponse.json({
        alerts_by_state: counts,
        agents: backend.agents,
        runs: backend.runs.slice(0, 10),
        false_alarms: backend.decisions.falseAlarms,
      });
    }),
    http.get(`${API}/since`, ({ request }) => {
      const from = new URL(request.url).searchParams.get('from') ?? '';
      backend.decisions.askedSince.push(from);
      return HttpResponse.json({ ...backend.decisions.since, since: from });
    }),
    http.get(`${API}/waiting`, () =>
      HttpResponse.json({
        alerts_open: [...backend.alerts.values()].filter(
          ({ state }) => state === 'open',
        ).length,
        runs_queued: backend.runs.filter(({ state }) => state === 'queued')
          .length,
        targets_quarantined: backend.targets.filter(
          ({ health }) => health.state === 'quarantined',
        ).length,
      }),
    ),
    http.get(`${API}/arms`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      const [wanted, benchmark, metric] = [
        query.get('target'),
        query.get('benchmark') ?? '',
        query.get('metric') ?? 'time',
      ];
      const rows = backend.comparisons.filter(
        (row) =>
          row.benchmark === benchmark &&
          row.metric === metric &&
          (wanted === null || row.target_id === wanted),
      );
      return HttpResponse.json(arms(backend, benchmark, metric, rows));
    }),
    http.get(
      `${API}/stream`,
      () =>
        new HttpResponse(
          new ReadableStream<Uint8Array>({
            start: (controller) =>
              controller.enqueue(
                new TextEncoder().encode('id: 0\nevent: ready\ndata: {}\n\n'),
              ),
          }),
          { headers: { 'Content-Type': 'text/event-stream' } },
        ),
    ),
  ];
}

export function handlersFor(backend: FakeBackend): HttpHandler[] {
  return [
    checkRequest(backend),
    ...sessionHandlers(backend),
    ...peopleHandlers(backend),
    ...channelHandlers(backend),
    ...fleetHandlers(backend),
    ...agentHandlers(backend),
    ...runHandlers(backend),
    ...jobHandlers(backend),
    ...reportHandlers(backend),
    ...alertHandlers(backend),
    ...historyHandlers(backend),
    ...decisionHandlers(backend),
  ];
}
