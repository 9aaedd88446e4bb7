/** Suites the agents announced, and the agents and targets themselves. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { Agent, Page, Suite, Target } from './types';

export const suitesQuery = queryOptions({
  queryKey: ['suites'],
  queryFn: ({ signal }): Promise<Page<Suite>> =>
    unwrap(client.GET('/api/v1/suites', { signal, params: { query: { limit: 200 } } })),
  staleTime: 30_000,
});

export const targetKeys = {
  all: ['targets'] as const,
  target: (id: string) => ['targets', 'one', id] as const,
};

export const targetsQuery = queryOptions({
  queryKey: [...targetKeys.all, 'list'],
  queryFn: ({ signal }): Promise<Page<Target>> =>
    unwrap(client.GET('/api/v1/targets', { signal, params: { query: { limit: 200 } } })),
  refetchInterval: 10_000,
});

export function targetQuery(id: string) {
  return queryOptions({
    queryKey: targetKeys.target(id),
    queryFn: ({ signal }): Promise<Target> =>
      unwrap(client.GET('/api/v1/targets/{target_id}', { signal, params: { path: { target_id: id } } })),
    refetchInterval: 10_000,
  });
}

/** Ids of the simulated targets: wherever a target is named, it is said of these. */
export const simulatedTargetsQuery = queryOptions({
  queryKey: [...targetKeys.all, 'simulated'],
  queryFn: async ({ signal }): Promise<ReadonlySet<string>> => {
    const { items } = await unwrap<Page<Target>>(
      client.GET('/api/v1/targets', { signal, params: { query: { simulated: true, limit: 200 } } }),
    );
    return new Set(items.map(({ id }) => id));
  },
  staleTime: 60_000,
});

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: ({ signal }): Promise<Page<Agent>> =>
    unwrap(client.GET('/api/v1/agents', { signal, params: { query: { limit: 200 } } })),
  refetchInterval: 15_000,
});

export function setMaintenance(id: string, on: boolean, reason: string | null): Promise<Target> {
  return unwrap(
    client.PUT('/api/v1/targets/{target_id}/maintenance', {
      params: { path: { target_id: id } },
      body: { on, reason },
    }),
  );
}
