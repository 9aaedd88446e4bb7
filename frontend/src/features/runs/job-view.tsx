/**
 * Shows one job of a run: its phases and progress, and its report, or live samples until it has one.
 */
import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { jobEnded, liveSeriesQuery } from '../../api/runs';
import type {
  Job,
  JobState,
  Progress,
  Run,
  WaitingReason,
} from '../../api/types';
import { formatInteger } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { Icon, type IconName } from '../../ui/icon';
import { hasNoVerdict, JOB_STATES, OUTCOMES } from '../../ui/state-badges';
import { Panel, TwoColumns } from '../../ui/panel';
import { Status, type Badge } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import { SimulatedMarkOf } from '../../ui/target-name';
import tones from '../../ui/tones.module.css';
import { ConditionTracks } from './condition-tracks';
import { FailureExcerpt } from './failure-excerpt';
import { JobReportView } from './job-report';
import { LiveSamples } from './live-samples';
import { LogTail } from './log-tail';
import { ReportedLines } from './reported-lines';
import classes from './runs.module.css';

const PHASES: readonly JobState[] = [
  'queued',
  'leased',
  'preparing',
  'measuring',
  'uploading',
  'analysing',
  'done',
];

export function JobView({ run, job }: { run: Run; job: Job }) {
  const analysed = job.state === 'done';
  if (run.trigger === 'import') {
    return (
      <>
        <JobPanel job={job} leased={false} />
        {analysed && <JobReportView run={run} job={job} />}
        <LiveSamples job={job} />
      </>
    );
  }
  return (
    <>
      <JobPanel job={job} leased={run.trigger !== 'recorded'} />
      {analysed && <JobReportView run={run} job={job} />}
      <LiveSamples job={job} />
      <div style={{ marginTop: '1rem' }}>
        <TwoColumns>
          <ConditionTracks job={job} />
          <LogTail job={job} />
        </TwoColumns>
      </div>
      <ReportedLines key={`${job.id} ${job.attempt}`} job={job} />
    </>
  );
}

/** Returns the badge of a job: the phase while it runs, afterwards its outcome. */
export function jobBadge({ state, outcome }: Job): Badge {
  return outcome === 'running' ? JOB_STATES[state] : OUTCOMES[outcome];
}

/** A job that was imported or recorded was never leased, so it has no phases. */
function JobPanel({ job, leased }: { job: Job; leased: boolean }) {
  return (
    <Panel
      title={`Job on ${job.target_name}`}
      mark={<SimulatedMarkOf id={job.target_id} />}
      actions={
        <Group gap={6}>
          {job.partial && (
            <Status
              look={{ tone: 'unsure', icon: 'warning', word: 'partial' }}
              title="Not every sample arrived."
            />
          )}
          <Status look={jobBadge(job)} />
          <AppLink to="/targets/$targetId" params={{ targetId: job.target_id }}>
            Target
          </AppLink>
        </Group>
      }
    >
      {leased && <Phases job={job} />}
      {!jobEnded(job) && <JobProgress job={job} />}
      {hasNoVerdict(job.outcome) && job.failure && (
        <FailureExcerpt job={job} failure={job.failure} />
      )}
      {job.reason !== null && job.outcome !== 'inconclusive' && (
        <p style={{ margin: '0.5rem 0 0' }}>{job.reason}</p>
      )}
    </Panel>
  );
}

/** Returns the index of the phase a job reached; for a failed job, that of its last known phase. */
function reachedPhase(job: Job): number {
  const index = PHASES.indexOf(job.state);
  if (index >= 0) return index;
  if (job.started_at === null) return 0;
  return job.samples > 0 || job.progress !== null
    ? PHASES.indexOf('measuring')
    : PHASES.indexOf('preparing');
}

function Phases({ job }: { job: Job }) {
  const current = reachedPhase(job);
  const stopped = !PHASES.includes(job.state);
  return (
    <ol className={classes.phases} aria-label="Phases">
      {PHASES.map((phase, index) => {
        const past =
          index < current || (job.state === 'done' && index === current);
        const now = index === current && !past;
        const tone = past
          ? tones.good
          : now
            ? stopped
              ? tones.bad
              : tones.busy
            : classes.ahead;
        const icon: IconName = past
          ? 'check'
          : now
            ? stopped
              ? 'cross'
              : 'play'
            : 'muted';
        return (
          <li
            key={phase}
            className={`${classes.phase} ${tone} ${now ? classes.current : ''}`}
            aria-current={now ? 'step' : undefined}
          >
            <Icon name={icon} size={14} />
            {now && stopped ? `${phase}: ${job.state}` : phase}
          </li>
        );
      })}
    </ol>
  );
}

/** Returns the finished launches and the part of the current one, in percent; `done` and `total` are of one launch. */
function progressPercent({ launch, launches, done, total }: Progress): number {
  const part = total === 0 ? 0 : Math.min(1, done / total);
  return launches === 0 ? 0 : Math.min(100, ((launch + part) / launches) * 100);
}

/** Counts the samples that have arrived, because the job's own count changes only with its state. */
function SampleCount({ job }: { job: Job }) {
  const series = useQuery(liveSeriesQuery(job.id));
  const arrived = (series.data?.items ?? []).reduce((sum, { n }) => sum + n, 0);
  return <span>{formatInteger(Math.max(arrived, job.samples))} samples</span>;
}

function JobProgress({ job }: { job: Job }) {
  const { progress } = job;
  const percent = progress === null ? 0 : progressPercent(progress);
  const where =
    progress === null
      ? (job.waiting_reason?.text ?? job.detail ?? waitingText(job.state))
      : `Launch ${progress.launch + 1} of ${progress.launches}, step ${progress.done} of ${progress.total}`;
  return (
    <div>
      <div className={classes.progressLine}>
        <span>
          {where}
          {job.batch > 0 && ` · batch ${job.batch + 1}`}
          {job.attempt > 1 && ` · attempt ${job.attempt}`}
        </span>
        <SampleCount job={job} />
      </div>
      <div
        className={classes.track}
        role="progressbar"
        aria-label="Progress of the job"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(percent)}
      >
        <div className={classes.fill} style={{ width: `${percent}%` }} />
      </div>
      {job.waiting_reason && <WaitingReasonLine reason={job.waiting_reason} />}
    </div>
  );
}

/** Shows since when a job waits, and what would end the wait. */
function WaitingReasonLine({ reason }: { reason: WaitingReason }) {
  const { since, advice, run_id: runId } = reason;
  if (since === null && advice === null) return null;
  return (
    <p className={classes.waiting}>
      {since !== null && (
        <>
          Since <TimeAgo at={since} />.{' '}
        </>
      )}
      {advice}
      {runId !== null && (
        <>
          {' '}
          <AppLink to="/runs/$runId" params={{ runId }}>
            That run
          </AppLink>
        </>
      )}
    </p>
  );
}

function waitingText(state: JobState): string {
  if (state === 'queued') return 'Waiting for the target to be free';
  if (state === 'lost')
    return 'The agent stopped answering; late samples still count';
  return 'In progress';
}
