/**
 * Requests the server's summaries: the overview, the arms of a benchmark, the matrix of a suite, two revisions
 * side by side, and the missing cases of a run.
 */
import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
} from '@tanstack/react-query';

import { client, unwrap } from './client';
import type {
  Arms,
  ArmStandings,
  Compare,
  Completeness,
  Matrix,
  Overview,
  Since,
  Waiting,
} from './types';

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }): Promise<Overview> =>
    unwrap(client.GET('/api/v1/overview', { signal })),
  refetchInterval: 10_000,
});

/** Returns the query of what is new since an instant. */
export function sinceQuery(from: string) {
  return queryOptions({
    queryKey: ['since', from],
    queryFn: ({ signal }): Promise<Since> =>
      unwrap(
        client.GET('/api/v1/since', { signal, params: { query: { from } } }),
      ),
    refetchInterval: 60_000,
  });
}

export const waitingQuery = queryOptions({
  queryKey: ['waiting'],
  queryFn: ({ signal }): Promise<Waiting> =>
    unwrap(client.GET('/api/v1/waiting', { signal })),
  refetchInterval: 15_000,
});

export interface ArmsFilters {
  suite: string;
  benchmark: string;
  metric?: string | undefined;
  target?: string | undefined;
}

export function armsQuery(filters: ArmsFilters) {
  return queryOptions({
    queryKey: ['arms', filters],
    queryFn: ({ signal }): Promise<Arms> =>
      unwrap(
        client.GET('/api/v1/arms', { signal, params: { query: filters } }),
      ),
  });
}

export const armStandingsQuery = queryOptions({
  queryKey: ['arms', 'standings'],
  queryFn: ({ signal }): Promise<ArmStandings> =>
    unwrap(client.GET('/api/v1/arms/standings', { signal })),
  refetchInterval: 30_000,
});

export interface MatrixFilters {
  suite: string;
  branch?: string | undefined;
}

export const matrixKeys = { all: ['matrix'] as const };

export function matrixQuery(filters: MatrixFilters) {
  return queryOptions({
    queryKey: [...matrixKeys.all, filters],
    queryFn: ({ signal }): Promise<Matrix> =>
      unwrap(
        client.GET('/api/v1/matrix', { signal, params: { query: filters } }),
      ),
    refetchInterval: 30_000,
  });
}

export interface CompareFilters {
  base: string;
  head: string;
  suite?: string | undefined;
  target?: string | undefined;
  benchmark?: string | undefined;
  metric?: string | undefined;
  hide_uncertain?: boolean | undefined;
}

/** Returns the paged query of a comparison, the clearest and largest differences first. */
export function compareQuery(filters: CompareFilters) {
  return infiniteQueryOptions({
    queryKey: ['compare', filters],
    queryFn: ({ signal, pageParam }): Promise<Compare> => {
      const query = {
        ...filters,
        limit: 200,
        ...(pageParam === null ? {} : { cursor: pageParam }),
      };
      return unwrap(
        client.GET('/api/v1/compare', { signal, params: { query } }),
      );
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    // After a change of filter, the old rows are shown until the new ones arrive.
    placeholderData: keepPreviousData,
    // Refetching makes the server rank all rows again for every loaded page.
    refetchOnWindowFocus: false,
  });
}

export function completenessQuery(runId: string, ended: boolean) {
  return queryOptions({
    queryKey: ['runs', 'one', runId, 'completeness', ended],
    queryFn: ({ signal }): Promise<Completeness> =>
      unwrap(
        client.GET('/api/v1/runs/{run_id}/completeness', {
          signal,
          params: { path: { run_id: runId } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ended ? false : 10_000,
  });
}
