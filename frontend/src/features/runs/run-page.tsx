/**
 * Shows one run while it is going on and afterwards: what was requested, how far it is, and the results of its jobs.
 * The page may be reloaded at any moment, because the server keeps everything that it shows.
 */
import { Fragment, type ReactNode } from 'react';

import { Alert, Button, Group } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import {
  cancelRun,
  jobReportQuery,
  launchesOf,
  runEnded,
  runKeys,
  runQuery,
} from '../../api/runs';
import { may, sessionQuery } from '../../api/session';
import type { Job, Run } from '../../api/types';
import type { StreamStatus } from '../../api/live-stream';
import { shortId } from '../../lib/ids';
import { formatDuration, secondsBetween } from '../../lib/times';
import { formatParam, paramsLabel } from '../../lib/params';
import { AppLink } from '../../ui/app-link';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { Identifier, NameTexts } from '../../ui/identifier';
import { QueryView } from '../../ui/query-view';
import { DEMONSTRATION, OUTCOMES, TRIGGER_LABELS } from '../../ui/state-badges';
import { Page } from '../../ui/page';
import { Facts, Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { useTargetLabel } from '../../ui/target-labels';
import { TimeAgo, useNow } from '../../ui/time-ago';
import { Completeness } from './completeness';
import { jobBadge, JobView } from './job-view';
import classes from './runs.module.css';
import { useLiveRun } from './use-live-run';

type Fact = readonly [label: string, value: ReactNode];

export interface RunPageProps {
  runId: string;
  jobId: string | undefined;
  onJob: (jobId: string | undefined) => void;
}

export function RunPage({ runId, jobId, onJob }: RunPageProps) {
  const run = useQuery(runQuery(runId));
  const status = useLiveRun(run.data, runId);
  const title = run.data === undefined ? 'Run' : `${run.data.suite} run`;
  return (
    <Page
      title={`${title} ${shortId(runId)}`}
      heading={
        <>
          {title} <span className="pl-mono">{shortId(runId)}</span>
        </>
      }
      crumb={<AppLink to="/runs">Runs</AppLink>}
      actions={run.data && <RunActions run={run.data} status={status} />}
    >
      <QueryView query={run} what="run" lines={8}>
        {(data) => (
          <RunParts
            run={data}
            job={data.jobs.find((job) => job.id === jobId) ?? data.jobs[0]}
            onJob={onJob}
          />
        )}
      </QueryView>
    </Page>
  );
}

interface RunPartsProps {
  run: Run;
  /** The job that is shown. */
  job: Job | undefined;
  onJob: RunPageProps['onJob'];
}

/** The report of the job, once there is one, has the texts of the names in all parts. */
function RunParts({ run, job, onJob }: RunPartsProps) {
  const report = useQuery({
    ...jobReportQuery(job?.id ?? ''),
    enabled: job?.state === 'done',
  });
  return (
    <NameTexts texts={report.data?.name_texts ?? {}}>
      <RunSummary run={run} />
      <Completeness run={run} />
      <Jobs run={run} job={job} onJob={onJob} />
    </NameTexts>
  );
}

function RunActions({ run, status }: { run: Run; status: StreamStatus }) {
  const session = useQuery(sessionQuery);
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => cancelRun(run.id),
    onSuccess: (cancelled) =>
      queryClient.setQueryData(runKeys.run(run.id), cancelled),
  });
  if (runEnded(run))
    return (
      <Group gap="0.4rem 1.2rem">
        <AppLink to="/compare" search={{ head: run.id }}>
          Compare runs
        </AppLink>
        {!isStoredAtOnce(run) && (
          <AppLink to="/runs/new" search={{ suite: run.suite, repeat: run.id }}>
            Repeat
          </AppLink>
        )}
      </Group>
    );
  return (
    <>
      <LiveMark status={status} />
      {may(session.data, 'runs.create') && (
        <Button
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
          leftSection={<Icon name="stop" size={16} />}
        >
          Cancel run
        </Button>
      )}
      {cancel.error !== null && (
        <span role="alert" style={{ color: 'var(--pl-bad)' }}>
          {cancel.error.message}
        </span>
      )}
    </>
  );
}

function LiveMark({ status }: { status: StreamStatus }) {
  const lost = status === 'lost';
  return (
    <span className={classes.live} role="status">
      <span
        className={`${classes.dot} ${lost ? classes.dotLost : ''}`}
        aria-hidden="true"
      />
      {lost ? 'reconnecting' : status === 'open' ? 'live' : 'connecting'}
    </span>
  );
}

function RunSummary({ run }: { run: Run }) {
  const now = useNow(1000);
  const knobs = Object.entries(run.knobs);
  return (
    <Panel
      title="About"
      actions={
        <Group gap={6}>
          {run.demonstration && <Status look={DEMONSTRATION} />}
          <Status look={OUTCOMES[run.outcome]} />
        </Group>
      }
    >
      {run.reason !== null && (
        <p style={{ margin: '0 0 0.75rem' }}>{run.reason}</p>
      )}
      {run.demonstration && (
        <Alert
          variant="outline"
          color="grape"
          mb="sm"
          icon={<Icon name="flask" />}
        >
          Demonstration: a knob distorts this run on purpose. Its figures say
          nothing about the code.
        </Alert>
      )}
      <Facts
        items={[
          [
            comparesRevisions(run) ? 'Head' : 'Commit',
            <span key="c" className="pl-mono">
              {run.commit.slice(0, 12)}
              {run.branch !== null && ` (${run.branch})`}
            </span>,
          ],
          ...(comparesRevisions(run)
            ? [['Base', <Base key="b" run={run} />] as const]
            : []),
          ...(run.pull_request === null
            ? []
            : [
                [
                  'Pull request',
                  <PullRequest key="p" request={run.pull_request} />,
                ] as const,
              ]),
          ['Benchmarks', <Benchmarks key="b" names={run.benchmarks} />],
          ...(run.trigger === 'import' ? [] : requestFacts(run)),
          [
            'Requested',
            <span key="r">
              {TRIGGER_LABELS[run.trigger]}, {run.created_by},{' '}
              <TimeAgo at={run.created_at} />
            </span>,
          ],
          ...timeFacts(run, now),
          ...(run.suppress.length > 0
            ? [['Suppressed', run.suppress.join(', ')] as const]
            : []),
          ...(knobs.length > 0
            ? [['Knobs', paramsLabel(run.knobs)] as const]
            : []),
        ]}
      />
    </Panel>
  );
}

function Benchmarks({ names }: { names: readonly string[] }) {
  if (names.length === 0) return 'all';
  return names.map((name, index) => (
    <Fragment key={name}>
      {index > 0 && ', '}
      <Identifier name={name} />
    </Fragment>
  ));
}

/** Returns how long a run takes. One that was imported or recorded was stored in one moment, long after its measurement. */
function timeFacts(run: Run, now: number): readonly Fact[] {
  if (!isStoredAtOnce(run)) {
    const took = secondsBetween(run.created_at, run.finished_at, now);
    const label = run.finished_at === null ? 'Running for' : 'Took';
    return [[label, formatDuration(took)]];
  }
  return run.jobs
    .slice(0, 1)
    .map(({ started_at: at }) => ['Measured', <TimeAgo key="m" at={at} />]);
}

function isStoredAtOnce({ trigger }: Run): boolean {
  return trigger === 'import' || trigger === 'recorded';
}

/** Returns the params and the size of a request; an imported run has none. */
function requestFacts(run: Run): readonly Fact[] {
  const launches = counted(launchesOf(run), 'launch', 'launches');
  const size = `${launches} × ${counted(String(run.rounds), 'round', 'rounds')}`;
  return [
    ['Params', paramsOf(run)],
    ['Size', size],
  ];
}

function counted(number: string, singular: string, many: string): string {
  return `${number} ${number === '1' ? singular : many}`;
}

function comparesRevisions(run: Run): boolean {
  return run.base_commit !== null || run.base_branch !== null;
}

function Base({ run }: { run: Run }) {
  const { base_commit: base, base_branch: branch, commit } = run;
  const origin = branch === null ? '' : `merge base with ${branch}`;
  if (base === null) return <>{origin}, not found yet</>;
  const kind =
    base === commit
      ? 'A/A: the same revision on both sides'
      : 'A/B: both revisions interleaved in one job';
  return (
    <>
      <span className="pl-mono">{base.slice(0, 12)}</span> (
      {origin === '' ? kind : `${origin}; ${kind}`})
    </>
  );
}

function PullRequest({
  request: { number, url, title },
}: {
  request: NonNullable<Run['pull_request']>;
}) {
  const name = title === null ? `#${number}` : `#${number}: ${title}`;
  if (url === null) return <>{name}</>;
  return (
    <a className="pl-link" href={url} target="_blank" rel="noreferrer noopener">
      {name}
    </a>
  );
}

function paramsOf(run: Run): string {
  const parts = Object.entries(run.params).map(
    ([name, values]) => `${name} ${values.map(formatParam).join(', ')}`,
  );
  return parts.length === 0 ? 'all declared' : parts.join(' · ');
}

function Jobs({ run, job, onJob }: RunPartsProps) {
  const labelOf = useTargetLabel();
  if (job === undefined) {
    return (
      <Panel title="Jobs">
        <EmptyState icon="targets" title="No target yet">
          A job appears here once a target that knows this suite is online.
        </EmptyState>
      </Panel>
    );
  }
  return (
    <div style={{ marginTop: '1rem' }}>
      {run.jobs.length > 1 && (
        <FilterBar label="Job">
          <FilterSelect
            label="Target"
            value={job.id}
            onChange={onJob}
            options={run.jobs.map((each) => ({
              value: each.id,
              label: jobLabel(each, labelOf(each.target_id, each.target_name)),
            }))}
          />
        </FilterBar>
      )}
      <JobView key={job.id} run={run} job={job} />
    </div>
  );
}

function jobLabel(job: Job, name: string): string {
  return `${name} – ${jobBadge(job).word}`;
}
