/**
 * Requests about targets: identity, state, events and actions. Every write returns the whole target, so the cache has
 * the server's state.
 */
import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
} from '@tanstack/react-query';

import { client, unwrap } from './client';
import type {
  EventAxis,
  HealthState,
  Page,
  Target,
  TargetConditions,
  TargetEvent,
} from './types';

export interface TargetFilters {
  kind?: Target['kind'] | undefined;
  state?: Target['state'] | undefined;
  health?: HealthState | undefined;
  simulated?: boolean | undefined;
  /** Text to find in the name, serial, model or route. */
  q?: string | undefined;
  cursor?: string | undefined;
}

export const targetKeys = {
  all: ['targets'] as const,
  lists: ['targets', 'list'] as const,
  target: (id: string) => ['targets', 'one', id] as const,
  events: (id: string) => ['targets', 'events', id] as const,
};

/** Interval of refetching the list of targets; live events update it in between. */
const REFETCH_MS = 10_000;

/** Targets for selection lists: without their factors, findings and checks. */
export const targetsQuery = queryOptions({
  queryKey: [...targetKeys.lists, 'all'],
  queryFn: ({ signal }): Promise<Page<Target>> =>
    unwrap(
      client.GET('/api/v1/targets', {
        signal,
        params: { query: { fields: 'names', limit: 200 } },
      }),
    ),
  refetchInterval: REFETCH_MS,
});

export function fleetQuery(filters: TargetFilters) {
  return queryOptions({
    queryKey: [...targetKeys.lists, filters],
    queryFn: ({ signal }): Promise<Page<Target>> =>
      unwrap(
        client.GET('/api/v1/targets', {
          signal,
          params: { query: { ...filters, limit: 50 } },
        }),
      ),
    refetchInterval: REFETCH_MS,
    placeholderData: keepPreviousData,
  });
}

export function targetQuery(id: string) {
  return queryOptions({
    queryKey: targetKeys.target(id),
    queryFn: ({ signal }): Promise<Target> =>
      unwrap(
        client.GET('/api/v1/targets/{target_id}', {
          signal,
          params: { path: { target_id: id } },
        }),
      ),
    refetchInterval: REFETCH_MS,
  });
}

/** The longest time for which a new simulated device is shown without its mark. */
const SIMULATED_REFETCH_MS = 15_000;

/** The query of the ids of simulated targets, for the mark beside their names. */
export const simulatedTargetsQuery = queryOptions({
  queryKey: [...targetKeys.all, 'simulated'],
  queryFn: async ({ signal }): Promise<ReadonlySet<string>> => {
    const ids = new Set<string>();
    let cursor: string | null = null;
    do {
      const query = {
        simulated: true,
        fields: 'names' as const,
        limit: 200,
        ...(cursor === null ? {} : { cursor }),
      };
      // Each page names the next.
      // oxlint-disable-next-line no-await-in-loop
      const page: Page<Target> = await unwrap<Page<Target>>(
        client.GET('/api/v1/targets', { signal, params: { query } }),
      );
      for (const { id } of page.items) ids.add(id);
      cursor = page.next;
    } while (cursor !== null);
    return ids;
  },
  staleTime: REFETCH_MS,
  refetchInterval: SIMULATED_REFETCH_MS,
});

/** Returns the paged query of a target's events, newest first. */
export function targetEventsQuery(id: string, axis: EventAxis | undefined) {
  return infiniteQueryOptions({
    queryKey: [...targetKeys.events(id), axis],
    queryFn: ({ signal, pageParam }): Promise<Page<TargetEvent>> =>
      unwrap(
        client.GET('/api/v1/targets/{target_id}/events', {
          signal,
          params: {
            path: { target_id: id },
            query: {
              limit: 20,
              ...(axis === undefined ? {} : { axis }),
              ...(pageParam === null ? {} : { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    refetchInterval: 30_000,
  });
}

const DAY_MS = 86_400_000;

/** Returns the query of the conditions of the last `days`, thinned by the server. */
export function targetConditionsQuery(id: string, days: number) {
  return queryOptions({
    queryKey: [...targetKeys.all, 'conditions', id, days],
    queryFn: ({ signal }): Promise<TargetConditions> =>
      unwrap(
        client.GET('/api/v1/targets/{target_id}/conditions', {
          signal,
          params: {
            path: { target_id: id },
            query: { from: new Date(Date.now() - days * DAY_MS).toISOString() },
          },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
}

export interface Maintenance {
  on: boolean;
  reason: string | null;
  /** Null means no end. */
  until: string | null;
}

export function setMaintenance(id: string, body: Maintenance): Promise<Target> {
  return unwrap(
    client.PUT('/api/v1/targets/{target_id}/maintenance', {
      params: { path: { target_id: id } },
      body,
    }),
  );
}

export function quarantineTarget(id: string, reason: string): Promise<Target> {
  return unwrap(
    client.POST('/api/v1/targets/{target_id}/quarantine', {
      params: { path: { target_id: id } },
      body: { reason },
    }),
  );
}

export function releaseTarget(id: string, reason: string): Promise<Target> {
  return unwrap(
    client.POST('/api/v1/targets/{target_id}/release', {
      params: { path: { target_id: id } },
      body: { reason },
    }),
  );
}

/** Requests a health check, which the agent runs when no job uses the device. */
export function recheckTarget(id: string): Promise<Target> {
  return unwrap(
    client.POST('/api/v1/targets/{target_id}/recheck', {
      params: { path: { target_id: id } },
    }),
  );
}

/** Requests a restart; refused after two within a day. */
export function rebootTarget(id: string): Promise<Target> {
  return unwrap(
    client.POST('/api/v1/targets/{target_id}/reboot', {
      params: { path: { target_id: id } },
    }),
  );
}
