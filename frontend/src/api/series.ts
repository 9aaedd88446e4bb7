/** Requests about series, their points and notes, and retired benchmarks. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type {
  Annotation,
  AnnotationRequest,
  Page,
  Retired,
  Series,
  SeriesPage,
  SeriesPoints,
} from './types';

export interface SeriesFilters {
  suite?: string | undefined;
  benchmark?: string | undefined;
  arm?: string | undefined;
  metric?: string | undefined;
  target?: string | undefined;
  branch?: string | undefined;
  text?: string | undefined;
  changed?: boolean | undefined;
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
}

/** A window of time, both ends included; a missing end is that of the series. */
export interface Window {
  from?: string | undefined;
  to?: string | undefined;
}

/** The most points of a chart; when the server thins them, it keeps extremes and changes. */
const MAX_POINTS = 500;

export const seriesKeys = {
  all: ['series'] as const,
  one: (id: string) => ['series', 'one', id] as const,
};

export function seriesListQuery(filters: SeriesFilters) {
  return queryOptions({
    queryKey: [...seriesKeys.all, 'list', filters],
    queryFn: ({ signal }): Promise<Page<Series>> =>
      unwrap(
        client.GET('/api/v1/series', {
          signal,
          params: { query: { ...filters, limit: 50 } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

export function seriesQuery(id: string) {
  return queryOptions({
    queryKey: seriesKeys.one(id),
    queryFn: ({ signal }): Promise<SeriesPage> =>
      unwrap(
        client.GET('/api/v1/series/{series_id}', {
          signal,
          params: { path: { series_id: id } },
        }),
      ),
    refetchInterval: 60_000,
  });
}

export function pointsQuery(id: string, window: Window) {
  return queryOptions({
    queryKey: [...seriesKeys.one(id), 'points', window],
    queryFn: ({ signal }): Promise<SeriesPoints> =>
      unwrap(
        client.GET('/api/v1/series/{series_id}/points', {
          signal,
          params: {
            path: { series_id: id },
            query: { ...window, max_points: MAX_POINTS },
          },
        }),
      ),
    // The old window is shown until the new one arrives.
    placeholderData: keepPreviousData,
    // A window without an end may get new points.
    refetchInterval: window.to === undefined ? 60_000 : false,
  });
}

export function annotate(body: AnnotationRequest): Promise<Annotation> {
  return unwrap(client.POST('/api/v1/annotations', { body }));
}

export function removeAnnotation(id: string): Promise<undefined> {
  return unwrap(
    client.DELETE('/api/v1/annotations/{annotation_id}', {
      params: { path: { annotation_id: id } },
    }),
  );
}

export interface GoneBenchmark {
  suite: string;
  benchmark: string;
  arm: string | null;
}

/** Returns the parameter that restricts a request to one arm, or none for the whole benchmark. */
const ofArm = (arm: string | null) => (arm === null ? {} : { arm });

export function retireBenchmark(
  { suite, benchmark, arm }: GoneBenchmark,
  reason: string,
): Promise<Retired> {
  return unwrap(
    client.PUT('/api/v1/suites/{suite}/retired/{benchmark}', {
      params: { path: { suite, benchmark }, query: ofArm(arm) },
      body: { reason },
    }),
  );
}
