/**
 * Keeps a run's page current. Its state is fetched when the stream opens, so a reload loses
 * nothing; events contain small changes and are hints to fetch the rest. While the stream is down, the page
 * polls.
 */
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

import { addConditions, tailKeys } from '../../api/job-tails';
import { liveSeriesQuery, runEnded, runKeys } from '../../api/runs';
import type {
  Conditions,
  Job,
  JobState,
  LiveEvent,
  Progress,
  Run,
} from '../../api/types';
import { useLiveStream } from '../../api/use-live-stream';
import type { StreamStatus } from '../../api/live-stream';
import { throttle, type Throttled } from '../../lib/throttle';

const REFETCH_MS = 1000;
const POLL_MS = 4000;
/** States in which the server says what a job waits for. */
const WAITING: ReadonlySet<JobState> = new Set([
  'queued',
  'leased',
  'preparing',
  'lost',
]);

function setRun(
  client: QueryClient,
  runId: string,
  change: (run: Run) => Run,
): void {
  client.setQueryData<Run>(runKeys.run(runId), (run) =>
    run === undefined ? run : change(run),
  );
}

function withJob(run: Run, jobId: string, change: (job: Job) => Job): Run {
  return {
    ...run,
    jobs: run.jobs.map((job) => (job.id === jobId ? change(job) : job)),
  };
}

/**
 * Returns the newer state of a job. Reports of older attempts or batches are ignored. The reason to wait is dropped,
 * because events do not contain it.
 */
function newerJob(before: Job, after: Omit<Job, 'waiting_reason'>): Job {
  const stale =
    after.attempt < before.attempt ||
    (after.attempt === before.attempt && after.batch < before.batch);
  return stale ? before : { ...before, waiting_reason: null, ...after };
}

/** Adds the conditions of an event to those of the current attempt. */
function addLiveConditions(
  client: QueryClient,
  runId: string,
  jobId: string,
  conditions: Conditions,
): void {
  const run = client.getQueryData<Run>(runKeys.run(runId));
  const job = run?.jobs.find(({ id }) => id === jobId);
  if (job !== undefined) addConditions(client, jobId, job.attempt, conditions);
}

/** Applies the data that an event contains. */
export function applyEvent(
  client: QueryClient,
  runId: string,
  event: LiveEvent,
): void {
  const { kind, job_id: jobId, data } = event;
  if (kind === 'run') {
    const { jobs: _jobs, ...own } = data as Partial<Run>;
    setRun(client, runId, (run) => ({ ...run, ...own }));
  } else if (kind === 'job' && jobId !== null) {
    setRun(client, runId, (run) =>
      withJob(run, jobId, (job) => newerJob(job, data as unknown as Job)),
    );
  } else if (kind === 'progress' && jobId !== null) {
    setRun(client, runId, (run) =>
      withJob(run, jobId, (job) => ({
        ...job,
        progress: data as unknown as Progress,
      })),
    );
  } else if (kind === 'conditions' && jobId !== null) {
    addLiveConditions(client, runId, jobId, data as unknown as Conditions);
  }
}

/** Returns the key of the query that an event makes stale, unless the event contains the data. */
function staleKey(
  runId: string,
  { kind, job_id: jobId }: LiveEvent,
): readonly unknown[] | undefined {
  if (kind === 'samples' && jobId !== null)
    return liveSeriesQuery(jobId).queryKey;
  if (kind === 'log' && jobId !== null) return tailKeys.log(jobId);
  if (kind === 'run') return runKeys.run(runId);
  return undefined;
}

function refetchAll(client: QueryClient, runId: string): void {
  void client.invalidateQueries({ queryKey: runKeys.run(runId) });
  for (const job of client.getQueryData<Run>(runKeys.run(runId))?.jobs ?? []) {
    void client.invalidateQueries({ queryKey: runKeys.job(job.id) });
  }
}

/** Returns a function that refetches a query, at most once per interval however many events arrive. */
function useRefetcher(client: QueryClient): (key: readonly unknown[]) => void {
  const throttles = useRef(new Map<string, Throttled>());
  useEffect(() => {
    const held = throttles.current;
    return () => {
      for (const refetch of held.values()) refetch.cancel();
      held.clear();
    };
  }, []);
  return (key) => {
    const id = JSON.stringify(key);
    const refetch =
      throttles.current.get(id) ??
      throttle(
        () => void client.invalidateQueries({ queryKey: key }),
        REFETCH_MS,
      );
    throttles.current.set(id, refetch);
    refetch.call();
  };
}

export function useLiveRun(run: Run | undefined, runId: string): StreamStatus {
  const client = useQueryClient();
  const refetch = useRefetcher(client);
  const live = run !== undefined && !runEnded(run);
  const status = useLiveStream({
    run: runId,
    enabled: live,
    onStale: () => refetchAll(client, runId),
    onEvent: (event) => {
      applyEvent(client, runId, event);
      const key = staleKey(runId, event);
      if (key !== undefined) refetch(key);
    },
  });
  useEffect(() => {
    if (!live || status !== 'lost') return undefined;
    const timer = setInterval(() => refetchAll(client, runId), POLL_MS);
    return () => clearInterval(timer);
  }, [client, live, runId, status]);
  // The reason to wait changes with the target and other runs, whose events this page does not receive.
  const waits = live && run.jobs.some(({ state }) => WAITING.has(state));
  useEffect(() => {
    if (!waits) return undefined;
    const timer = setInterval(
      () =>
        void client.invalidateQueries({
          queryKey: runKeys.run(runId),
          exact: true,
        }),
      POLL_MS,
    );
    return () => clearInterval(timer);
  }, [client, waits, runId]);
  const wasLive = useRef(live);
  useEffect(() => {
    if (wasLive.current && !live) refetchAll(client, runId);
    wasLive.current = live;
  }, [client, live, runId]);
  return status;
}
