/** Handlers of the fake server for series, notes, the matrix, comparisons and completeness. */
import { http, HttpResponse, type HttpHandler } from 'msw';

import type { Annotation, AnnotationRequest } from '../api/types';
import { ada } from './fixtures';
import { completeness, seriesPage } from './fixtures-history';
import { problem } from './problems';
import type { FakeBackend } from './fake-backend';

const API = '*/api/v1';
const notFound = () => problem(404, 'not_found', 'There is no such thing.');

function seriesHandlers({ history }: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/series`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      const matches = (name: string, own: string) =>
        (query.get(name) ?? own) === own;
      const items = history.series.filter(
        (series) =>
          matches('suite', series.suite) &&
          matches('benchmark', series.benchmark) &&
          matches('target', series.target_id) &&
          (query.get('changed') === null ||
            (query.get('changed') === 'true') ===
              'standing' in series.changes) &&
          (query.get('text') ?? '')
            .split(' ')
            .every((word) =>
              `${series.benchmark} ${series.arm}`.includes(word),
            ),
      );
      return HttpResponse.json({ items, next: null });
    }),
    http.get(`${API}/series/:id`, ({ params }) => {
      const series = history.series.find(({ id }) => id === params['id']);
      if (series === undefined) return notFound();
      return HttpResponse.json({
        ...(history.page ?? seriesPage()),
        series: series,
      });
    }),
    http.get(`${API}/series/:id/points`, ({ params, request }) => {
      const query = new URL(request.url).searchParams;
      history.windows.push({ from: query.get('from'), to: query.get('to') });
      const [from, to] = [query.get('from') ?? '', query.get('to') ?? '~'];
      const points = history.points.filter(({ at }) => at >= from && at <= to);
      return HttpResponse.json({
        series_id: params['id'],
        unit: 'ns',
        total: history.thinned === '' ? points.length : points.length * 20,
        thinned: history.thinned !== '',
        note: history.thinned,
        first_at: history.points[0]?.at ?? null,
        last_at: history.points.at(-1)?.at ?? null,
        environments: (history.page ?? seriesPage()).environments,
        tracks: ['load', 'temperature_c'],
        points,
      });
    }),
  ];
}

function noteHandlers({ history }: FakeBackend): HttpHandler[] {
  return [
    http.post(`${API}/annotations`, async ({ request }) => {
      const body = (await request.json()) as AnnotationRequest;
      const made: Annotation = {
        series_id: null,
        target_id: null,
        commit: null,
        ...body,
        id: `note-made-${body.text.length}`,
        created_by: ada.name,
        created_at: body.at,
      };
      const page = history.page ?? seriesPage();
      history.page = { ...page, annotations: [...page.annotations, made] };
      return HttpResponse.json(made, { status: 201 });
    }),
    http.delete(`${API}/annotations/:id`, ({ params }) => {
      const page = history.page ?? seriesPage();
      history.page = {
        ...page,
        annotations: page.annotations.filter(({ id }) => id !== params['id']),
      };
      return new HttpResponse(null, { status: 204 });
    }),
  ];
}

function readHandlers({ history }: FakeBackend): HttpHandler[] {
  return [
    http.get(`${API}/arms/standings`, () =>
      HttpResponse.json(history.standings),
    ),
    http.get(`${API}/matrix`, ({ request }) => {
      const branch =
        new URL(request.url).searchParams.get('branch') ??
        history.matrix.branch;
      return HttpResponse.json({ ...history.matrix, branch });
    }),
    http.get(`${API}/compare`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      history.compares.push(Object.fromEntries(query));
      if (query.get('base') === 'unknown0')
        return problem(404, 'not_found', 'There is no such revision.');
      if (history.compareRefusal !== null)
        return problem(400, 'invalid_request', history.compareRefusal);
      const hide = query.get('hide_uncertain') === 'true';
      const rows = history.compare.rows.filter(
        ({ significance }) => !hide || significance === 'clear',
      );
      const from = Number(query.get('cursor') ?? 0);
      if (from > 0 && history.compareMoved) {
        history.compareMoved = false;
        return problem(
          400,
          'invalid_request',
          'The rows of this comparison have changed: begin again.',
        );
      }
      const until = from + history.comparePage;
      return HttpResponse.json({
        ...history.compare,
        rows: rows.slice(from, until),
        total: rows.length,
        next: until < rows.length ? String(until) : null,
        hidden: history.compare.rows.length - rows.length,
      });
    }),
    http.get(`${API}/runs/:id/completeness`, ({ params }) => {
      const id = String(params['id']);
      return HttpResponse.json(
        history.completeness.get(id) ?? completeness(id),
      );
    }),
    http.put(
      `${API}/suites/:suite/retired/:benchmark`,
      async ({ params, request }) => {
        const { reason } = (await request.json()) as { reason: string };
        const arm = new URL(request.url).searchParams.get('arm');
        history.retired.push({
          benchmark: String(params['benchmark']),
          arm,
          reason,
        });
        for (const [id, report] of history.completeness) {
          const gone = report.gone.filter(
            (lost) =>
              lost.benchmark !== params['benchmark'] || lost.arm !== arm,
          );
          history.completeness.set(id, { ...report, gone });
        }
        return HttpResponse.json({
          ...params,
          arm,
          reason,
          retired_by: ada.name,
          retired_at: null,
        });
      },
    ),
  ];
}

export function historyHandlers(backend: FakeBackend): HttpHandler[] {
  return [
    ...seriesHandlers(backend),
    ...noteHandlers(backend),
    ...readHandlers(backend),
  ];
}
