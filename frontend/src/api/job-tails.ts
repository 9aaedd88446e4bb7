/**
 * Reads the growing lists of an attempt, its log and conditions: each fetch requests only items after the last seq.
 *
 * Lines are never repeated or reordered, and only the newest are kept.
 */
import { queryOptions, type QueryClient } from '@tanstack/react-query';

import { client as http, unwrap } from './client';
import { runKeys } from './runs';
import type { Conditions, LogLine, Page, RawText, Reported } from './types';

/** Most pages per fetch; of a longer backlog, only the end is read. */
const MAX_PAGES = 25;
const PAGE = 200;
const KEEP_LINES = 1000;
const KEEP_CONDITIONS = 7200;

interface Sequenced {
  seq: number;
}

interface PageQuery {
  after?: number;
  cursor?: string;
  tail?: boolean;
}

/** Returns the query of an attempt. A job that was never leased has none; the server then returns nothing. */
function attemptQuery(attempt: number): { attempt?: number } {
  return attempt > 0 ? { attempt } : {};
}

type Fetch<T> = (slice: PageQuery) => Promise<Page<T>>;

/** Fetches the items after the cached ones. Several lines may share a seq, so paging is by cursor. */
async function fetchNewer<T extends Sequenced>(
  fetchPage: Fetch<T>,
  cached: readonly T[],
): Promise<readonly T[] | undefined> {
  const last = cached.at(-1)?.seq;
  const start: PageQuery = last === undefined ? {} : { after: last };
  const newer: T[] = [];
  let slice: PageQuery = start;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    // Each page starts where the one before ended, so they cannot be fetched together.
    // oxlint-disable-next-line no-await-in-loop
    const { items, next } = await fetchPage(slice);
    newer.push(...items);
    if (next === null) return [...cached, ...newer];
    slice = { ...start, cursor: next };
  }
  return undefined;
}

export const tailKeys = {
  log: (jobId: string) => [...runKeys.job(jobId), 'log'] as const,
  conditions: (jobId: string) => [...runKeys.job(jobId), 'conditions'] as const,
};

export function jobLogQuery(jobId: string, attempt: number) {
  const queryKey = [...tailKeys.log(jobId), attempt] as const;
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<readonly LogLine[]> => {
      const fetchPage = async (slice: PageQuery): Promise<Page<LogLine>> => {
        const query = { limit: PAGE, ...attemptQuery(attempt), ...slice };
        const answer = await unwrap(
          http.GET('/api/v1/jobs/{job_id}/log', {
            signal,
            params: { path: { job_id: jobId }, query },
          }),
        );
        // The answer is text only with `format=text`, which is not requested here.
        if (typeof answer === 'string')
          throw new TypeError('The log came as a text.');
        return answer;
      };
      const cached = client.getQueryData<readonly LogLine[]>(queryKey) ?? [];
      const all =
        cached.length === 0 ? undefined : await fetchNewer(fetchPage, cached);
      return (all ?? (await fetchPage({ tail: true })).items).slice(
        -KEEP_LINES,
      );
    },
  });
}

export function jobConditionsQuery(jobId: string, attempt: number) {
  const queryKey = [...tailKeys.conditions(jobId), attempt] as const;
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<readonly Conditions[]> => {
      const fetchPage = ({
        tail: _tail,
        ...slice
      }: PageQuery): Promise<Page<Conditions>> =>
        unwrap(
          http.GET('/api/v1/jobs/{job_id}/conditions', {
            signal,
            params: {
              path: { job_id: jobId },
              query: { limit: PAGE, ...attemptQuery(attempt), ...slice },
            },
          }),
        );
      const cached = client.getQueryData<readonly Conditions[]>(queryKey) ?? [];
      return ((await fetchNewer(fetchPage, cached)) ?? cached).slice(
        -KEEP_CONDITIONS,
      );
    },
  });
}

/** Returns the query of one reading with the output of its commands, fetched when it is opened because it is large. */
export function rawConditionsQuery(
  jobId: string,
  attempt: number,
  seq: number,
) {
  return queryOptions({
    queryKey: [...tailKeys.conditions(jobId), attempt, 'raw', seq] as const,
    queryFn: async ({ signal }): Promise<readonly RawText[]> => {
      const query = {
        ...attemptQuery(attempt),
        after: seq - 1,
        limit: 1,
        expand: 'raw' as const,
      };
      const { items } = await unwrap(
        http.GET('/api/v1/jobs/{job_id}/conditions', {
          signal,
          params: { path: { job_id: jobId }, query },
        }),
      );
      return items.find((conditions) => conditions.seq === seq)?.raw ?? [];
    },
    staleTime: Infinity,
  });
}

/** Returns the query of one page of lines; an app may print thousands. */
export function reportedQuery(
  jobId: string,
  attempt: number,
  cursor: string | undefined,
) {
  return queryOptions({
    queryKey: [...runKeys.job(jobId), 'reported', attempt, cursor] as const,
    queryFn: ({ signal }): Promise<Page<Reported>> => {
      const query = {
        limit: 50,
        ...attemptQuery(attempt),
        ...(cursor === undefined ? {} : { cursor }),
      };
      return unwrap(
        http.GET('/api/v1/jobs/{job_id}/reported', {
          signal,
          params: { path: { job_id: jobId }, query },
        }),
      );
    },
  });
}

/** Adds an observation that arrived live, unless it is not newer than the cached ones. */
export function addConditions(
  client: QueryClient,
  jobId: string,
  attempt: number,
  conditions: Conditions,
): void {
  const { queryKey } = jobConditionsQuery(jobId, attempt);
  client.setQueryData<readonly Conditions[]>(queryKey, (cached) => {
    if (cached === undefined) return cached;
    const last = cached.at(-1)?.seq ?? -1;
    return conditions.seq > last
      ? [...cached, conditions].slice(-KEEP_CONDITIONS)
      : cached;
  });
}
