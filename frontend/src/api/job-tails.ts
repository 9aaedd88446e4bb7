/**
 * Growing lists of a job — log and conditions — read incrementally: each fetch asks only for what came after
 * the last seq held. Invariant: lines are never repeated and never reordered; only the newest are kept.
 */
import { queryOptions, type QueryClient } from '@tanstack/react-query';

import { fetchConditions, fetchLog, runKeys } from './runs';
import type { Conditions, LogLine, Page } from './types';

/** Pages followed in one fetch; a longer backlog is read by the next one. */
const MAX_PAGES = 50;
const KEEP_LINES = 1000;
const KEEP_CONDITIONS = 7200;

interface Entry {
  seq: number;
}

type Fetch<T> = (jobId: string, after: number | undefined, signal?: AbortSignal) => Promise<Page<T>>;

async function follow<T extends Entry>(
  fetchPage: Fetch<T>,
  jobId: string,
  held: readonly T[],
  keep: number,
  signal: AbortSignal,
): Promise<readonly T[]> {
  let all = held;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    // Each page starts where the one before ended, so they cannot be fetched together.
    // oxlint-disable-next-line no-await-in-loop
    const { items, next } = await fetchPage(jobId, all.at(-1)?.seq, signal);
    const last = all.at(-1)?.seq ?? -1;
    all = [...all, ...items.filter((item) => item.seq > last || all.length === 0)].slice(-keep);
    if (next === null || items.length === 0) break;
  }
  return all;
}

export const tailKeys = {
  log: (jobId: string) => [...runKeys.job(jobId), 'log'] as const,
  conditions: (jobId: string) => [...runKeys.job(jobId), 'conditions'] as const,
};

export function jobLogQuery(jobId: string) {
  const queryKey = tailKeys.log(jobId);
  return queryOptions({
    queryKey,
    queryFn: ({ client, signal }): Promise<readonly LogLine[]> =>
      follow(fetchLog, jobId, client.getQueryData<readonly LogLine[]>(queryKey) ?? [], KEEP_LINES, signal),
  });
}

export function jobConditionsQuery(jobId: string) {
  const queryKey = tailKeys.conditions(jobId);
  return queryOptions({
    queryKey,
    queryFn: ({ client, signal }): Promise<readonly Conditions[]> =>
      follow(
        fetchConditions,
        jobId,
        client.getQueryData<readonly Conditions[]>(queryKey) ?? [],
        KEEP_CONDITIONS,
        signal,
      ),
  });
}

/** Adds one observation that arrived live; one that is not newer than what is held changes nothing. */
export function addConditions(client: QueryClient, jobId: string, conditions: Conditions): void {
  client.setQueryData<readonly Conditions[]>(tailKeys.conditions(jobId), (held) => {
    if (held === undefined) return held;
    const last = held.at(-1)?.seq ?? -1;
    return conditions.seq > last ? [...held, conditions].slice(-KEEP_CONDITIONS) : held;
  });
}
