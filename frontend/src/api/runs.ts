/** Requests about runs, their jobs, and the conditions, live series and report of a job. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type {
  Comparison,
  Distribution,
  Job,
  JobReport,
  LiveSeries,
  Page,
  Run,
  RunEstimate,
  RunRequest,
  RunState,
  Trigger,
} from './types';

export interface RunFilters {
  suite?: string | undefined;
  target?: string | undefined;
  state?: RunState | undefined;
  trigger?: Trigger | undefined;
  /** Range of instants in which runs were requested. */
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
}

export const runKeys = {
  all: ['runs'] as const,
  run: (id: string) => ['runs', 'one', id] as const,
  comparisons: (id: string) => ['runs', 'one', id, 'comparisons'] as const,
  job: (jobId: string) => ['jobs', jobId] as const,
};

export function runsQuery(filters: RunFilters) {
  return queryOptions({
    queryKey: ['runs', 'list', filters],
    queryFn: ({ signal }): Promise<Page<Run>> =>
      unwrap(
        client.GET('/api/v1/runs', {
          signal,
          params: { query: { ...filters, limit: 50 } },
        }),
      ),
    refetchInterval: 15_000,
  });
}

/** Returns the launches of the jobs, e.g. `5`, or `5 or 10` if they differ; without jobs, those requested. */
export function launchesOf({ launches, jobs }: Run): string {
  const launchCounts = new Set(jobs.map((job) => job.launches));
  return launchCounts.size === 0
    ? `${launches}`
    : [...launchCounts].toSorted((a, b) => a - b).join(' or ');
}

export function runQuery(id: string) {
  return queryOptions({
    queryKey: runKeys.run(id),
    queryFn: ({ signal }): Promise<Run> =>
      unwrap(
        client.GET('/api/v1/runs/{run_id}', {
          signal,
          params: { path: { run_id: id } },
        }),
      ),
  });
}

export function runComparisonsQuery(id: string) {
  return queryOptions({
    queryKey: runKeys.comparisons(id),
    queryFn: ({ signal }): Promise<Page<Comparison>> =>
      unwrap(
        client.GET('/api/v1/runs/{run_id}/comparisons', {
          signal,
          params: { path: { run_id: id }, query: { limit: 200 } },
        }),
      ),
  });
}

export function jobReportQuery(jobId: string) {
  return queryOptions({
    queryKey: [...runKeys.job(jobId), 'report'],
    queryFn: ({ signal }): Promise<JobReport> =>
      unwrap(
        client.GET('/api/v1/jobs/{job_id}/report', {
          signal,
          params: { path: { job_id: jobId } },
        }),
      ),
  });
}

export function liveSeriesQuery(jobId: string) {
  return queryOptions({
    queryKey: [...runKeys.job(jobId), 'live-series'],
    queryFn: ({ signal }): Promise<Page<LiveSeries>> =>
      unwrap(
        client.GET('/api/v1/jobs/{job_id}/live-series', {
          signal,
          params: { path: { job_id: jobId } },
        }),
      ),
  });
}

export interface Point {
  jobId: string;
  benchmark: string;
  metric: string;
  params: Readonly<Record<string, number | string>>;
}

export function distributionQuery({ jobId, benchmark, metric, params }: Point) {
  return queryOptions({
    queryKey: [
      ...runKeys.job(jobId),
      'distribution',
      benchmark,
      metric,
      params,
    ],
    queryFn: ({ signal }): Promise<Distribution> =>
      unwrap(
        client.GET('/api/v1/jobs/{job_id}/distribution', {
          signal,
          params: {
            path: { job_id: jobId },
            query: { benchmark, metric, params: JSON.stringify(params) },
          },
        }),
      ),
    staleTime: Infinity,
  });
}

/** Returns the query of how long a request would take. */
export function estimateQuery(body: RunRequest) {
  return queryOptions({
    queryKey: ['runs', 'estimate', body],
    queryFn: ({ signal }): Promise<RunEstimate> =>
      unwrap(client.POST('/api/v1/runs/estimate', { signal, body })),
    staleTime: 30_000,
    retry: false,
  });
}

export function requestRun(body: RunRequest): Promise<Run> {
  return unwrap(client.POST('/api/v1/runs', { body }));
}

export function cancelRun(id: string): Promise<Run> {
  return unwrap(
    client.POST('/api/v1/runs/{run_id}/cancel', {
      params: { path: { run_id: id } },
    }),
  );
}

const ENDED: ReadonlySet<Job['state']> = new Set([
  'done',
  'failed',
  'cancelled',
  'expired',
]);

/** Returns whether a job has ended; a lost job has not, because its late result may still arrive. */
export function jobEnded(job: Job): boolean {
  return ENDED.has(job.state);
}

export function runEnded(run: Run): boolean {
  return (
    run.state === 'done' || run.state === 'failed' || run.state === 'cancelled'
  );
}
