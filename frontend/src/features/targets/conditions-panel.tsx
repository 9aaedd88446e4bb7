/** Shows the conditions of a device over time: readings between jobs, and a summary of each job. */
import { useQuery } from '@tanstack/react-query';

import { targetConditionsQuery } from '../../api/targets';
import type {
  ConditionTrack,
  JobConditions,
  TargetConditions,
} from '../../api/types';
import { ChartFrame } from '../../charts/chart-frame';
import { timeTicks } from '../../charts/time-ticks';
import { TrackChart } from '../../charts/track-chart';
import {
  compareConditions,
  conditionFormat,
  conditionLabels,
} from '../../lib/conditions';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { QueryView } from '../../ui/query-view';
import { VERDICTS } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { Segments } from '../../ui/segments';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import classes from './targets.module.css';
import type { Span } from './targets-search';

const DAYS: Record<Span, number> = { day: 1, week: 7, month: 30 };

export interface ConditionsPanelProps {
  targetId: string;
  over: Span | undefined;
  onOver: (over: Span) => void;
}

export function ConditionsPanel({
  targetId,
  over = 'week',
  onOver,
}: ConditionsPanelProps) {
  const conditions = useQuery(targetConditionsQuery(targetId, DAYS[over]));
  return (
    <Panel
      title="Conditions over time"
      actions={
        <Segments
          label="The last"
          value={over}
          options={[
            { value: 'day', label: 'day' },
            { value: 'week', label: 'week' },
            { value: 'month', label: 'month' },
          ]}
          onChange={onOver}
        />
      }
    >
      <QueryView query={conditions} what="the conditions" lines={6}>
        {(data) => (
          <>
            <Readings data={data} over={over} />
            {data.jobs.length > 0 && <Jobs jobs={data.jobs} />}
          </>
        )}
      </QueryView>
    </Panel>
  );
}

interface DrawnTrack {
  key: string;
  label: string;
  format: (value: number) => string;
  points: ConditionTrack['points'];
  words: string;
}

function drawnTracks(tracks: TargetConditions['tracks']): DrawnTrack[] {
  const sorted = tracks.toSorted((a, b) => compareConditions(a.key, b.key));
  const labels = conditionLabels(sorted.map(({ key }) => key));
  return sorted.map(({ key, points }, index) => {
    const format = conditionFormat(key);
    const values = points.map(({ value }) => value);
    const [low, high] = [
      format(Math.min(...values)),
      format(Math.max(...values)),
    ];
    return {
      key,
      label: labels[index] ?? key,
      format,
      points,
      words: low === high ? low : `${low} to ${high}`,
    };
  });
}

function Readings({ data, over }: { data: TargetConditions; over: Span }) {
  const tracks = drawnTracks(data.tracks);
  if (tracks.length === 0) {
    return (
      <EmptyState icon="targets" title={`No readings in the last ${over}`}>
        {data.note}
      </EmptyState>
    );
  }
  const parts = tracks
    .slice(0, 3)
    .map(({ label, words }) => `${label} ${words}`);
  return (
    <ChartFrame
      title={`Readings of the last ${over}`}
      summary={`${parts.join('; ')}. ${data.note}`}
      chart={<Tracks tracks={tracks} gaps={data.gaps} />}
      tableToggle="Readings as a table"
      table={
        <DataTable
          label="Readings"
          rows={tracks}
          rowKey={({ key }) => key}
          columns={READINGS}
        />
      }
    />
  );
}

/** Draws tracks on one time axis, so that heat and slowness can be compared. */
function Tracks({
  tracks,
  gaps,
}: {
  tracks: readonly DrawnTrack[];
  gaps: TargetConditions['gaps'];
}) {
  const instants = tracks.flatMap(({ points }) =>
    points.map(({ at }) => Date.parse(at)),
  );
  const [start, end] = [Math.min(...instants), Math.max(...instants)];
  const { ticks, format: tickWords } = timeTicks(start, end, 5);
  const seconds = (at: number) => (at - start) / 1000;
  const broken = gaps.map(({ after, until }) => ({
    after: seconds(Date.parse(after)),
    until: seconds(Date.parse(until)),
  }));
  const axis = {
    ticks: ticks.map(seconds),
    format: (tick: number) => tickWords(start + tick * 1000),
  };
  return tracks.map(({ key, label, format, points, words }, index) => (
    <div key={key} className={classes.track}>
      <div className={classes.trackName}>
        {label} <span>{words}</span>
      </div>
      <TrackChart
        points={points.map(({ at, value }) => ({
          seconds: seconds(Date.parse(at)),
          value,
        }))}
        span={[0, Math.max(1, seconds(end))]}
        format={format}
        showAxis={index === tracks.length - 1}
        axis={axis}
        stepped
        gaps={broken}
      />
    </div>
  ));
}

const extreme =
  (pick: (...values: number[]) => number) => (track: DrawnTrack) =>
    track.format(
      track.points.map(({ value }) => value).reduce((a, b) => pick(a, b)),
    );

const READINGS: readonly Column<DrawnTrack>[] = [
  { header: 'Reading', cell: ({ label }) => label },
  { header: 'Lowest', cell: extreme(Math.min), align: 'right' },
  { header: 'Highest', cell: extreme(Math.max), align: 'right' },
  {
    header: 'Last',
    cell: ({ points, format }) => format(points.at(-1)?.value ?? 0),
    align: 'right',
  },
  { header: 'Points', cell: ({ points }) => points.length, align: 'right' },
];

function Jobs({ jobs }: { jobs: readonly JobConditions[] }) {
  return (
    <div className={classes.jobs}>
      <h3>While measuring, the median of each job</h3>
      <DataTable
        label="Conditions of its jobs"
        rows={jobs}
        rowKey={({ job_id: id }) => id}
        columns={JOBS}
      />
    </div>
  );
}

const JOBS: readonly Column<JobConditions>[] = [
  {
    header: 'Job',
    cell: ({ run_id: runId, job_id: job, suite, at }) => (
      <AppLink to="/runs/$runId" params={{ runId }} search={{ job }}>
        {suite}, <TimeAgo at={at} />
      </AppLink>
    ),
  },
  {
    header: 'Verdict',
    cell: ({ verdict }) =>
      verdict === null ? '–' : <Status look={VERDICTS[verdict]} />,
  },
  {
    header: 'Conditions',
    cell: ({ conditions }) => conditionsText(conditions),
    wrap: true,
  },
  {
    header: 'Suppressed',
    cell: ({ suppressed }) =>
      suppressed.length === 0 ? 'nothing' : suppressed.join(', '),
  },
];

/** Number of quantities shown for one job; its run's page has the rest. */
const MAX_QUANTITIES = 4;

function conditionsText(conditions: JobConditions['conditions']): string {
  const keys = Object.keys(conditions)
    .toSorted(compareConditions)
    .slice(0, MAX_QUANTITIES);
  const labels = conditionLabels(keys);
  const parts = keys.flatMap((key, index) => {
    const { median, max } = conditions[key] ?? {};
    if (median === undefined || max === undefined) return [];
    const format = conditionFormat(key);
    return [`${labels[index]} ${format(median)}, at most ${format(max)}`];
  });
  return parts.length === 0 ? 'not analysed' : parts.join('; ');
}
