/** Draws the target's conditions before, during and after a job: one small track per quantity on a shared time axis. */
import { useQuery } from '@tanstack/react-query';

import { jobConditionsQuery } from '../../api/job-tails';
import type { Conditions, Job } from '../../api/types';
import { MAX_DOTS } from '../../charts/palette';
import { thinKeepingPeaks, TrackChart } from '../../charts/track-chart';
import { formatDuration } from '../../lib/times';
import { DataTable } from '../../ui/data-table';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { DeviceConditions } from './device-conditions';
import classes from './runs.module.css';
import { isDevice, tracksOf, type Track } from './condition-track-data';

/** Number of tracks that are drawn; the table has all. */
const MAX_DRAWN_TRACKS = 6;

export function ConditionTracks({ job }: { job: Job }) {
  const conditions = useQuery(jobConditionsQuery(job.id, job.attempt));
  return (
    <Panel title="Conditions">
      <QueryView query={conditions} what="the conditions" lines={4}>
        {(items) =>
          items.length === 0 ? (
            <EmptyState icon="targets" title="No conditions">
              Frequency, temperature, load and pressure are read once a second
              on a host, and on a device before, between and after its launches.
            </EmptyState>
          ) : (
            <>
              <Tracks conditions={items} />
              {isDevice(items) && (
                <DeviceConditions job={job} conditions={items} />
              )}
            </>
          )
        }
      </QueryView>
    </Panel>
  );
}

function summary(tracks: readonly Track[], span: number): string {
  const parts = tracks.slice(0, 3).map((track) => {
    const values = track.points.map(({ value }) => value);
    const low = track.format(Math.min(...values));
    const high = track.format(Math.max(...values));
    return low === high
      ? `${track.label} ${low}`
      : `${track.label} ${low} to ${high}`;
  });
  return `Over ${formatDuration(span)}: ${parts.join('; ')}.`;
}

function Tracks({ conditions }: { conditions: readonly Conditions[] }) {
  const tracks = tracksOf(conditions);
  const drawn = tracks
    .filter((track) => track.points.length > 1)
    .slice(0, MAX_DRAWN_TRACKS);
  const end = Math.max(
    ...tracks.flatMap((track) => track.points.map(({ seconds }) => seconds)),
    1,
  );
  const sentence = summary(tracks, end);
  return (
    <>
      <p style={{ margin: '0 0 0.6rem', color: 'var(--pl-muted)' }}>
        {sentence}
      </p>
      <div role="img" aria-label={`Conditions over time. ${sentence}`}>
        {drawn.map((track, index) => (
          <div key={track.key} className={classes.trackRow}>
            <div className={classes.trackName}>
              {track.label}
              <strong>{track.format(track.points.at(-1)?.value ?? 0)}</strong>
            </div>
            <TrackChart
              points={thinKeepingPeaks(track.points, MAX_DOTS)}
              span={[0, end]}
              format={track.format}
              showAxis={index === drawn.length - 1}
            />
          </div>
        ))}
      </div>
      <details className={classes.more}>
        <summary>Conditions as a table</summary>
        <TrackTable tracks={tracks} />
      </details>
    </>
  );
}

function TrackTable({ tracks }: { tracks: readonly Track[] }) {
  return (
    <DataTable
      label="Conditions"
      rows={tracks}
      rowKey={(track) => track.key}
      columns={[
        { header: 'Quantity', cell: (track) => track.label },
        {
          header: 'First',
          cell: (track) => track.format(track.points[0]?.value ?? 0),
          align: 'right',
        },
        {
          header: 'Lowest',
          cell: (track) => track.format(extreme(track, Math.min)),
          align: 'right',
        },
        {
          header: 'Highest',
          cell: (track) => track.format(extreme(track, Math.max)),
          align: 'right',
        },
        {
          header: 'Last',
          cell: (track) => track.format(track.points.at(-1)?.value ?? 0),
          align: 'right',
        },
        {
          header: 'Readings',
          cell: (track) => track.points.length,
          align: 'right',
        },
      ]}
    />
  );
}

function extreme(track: Track, pick: (...values: number[]) => number): number {
  return track.points.map(({ value }) => value).reduce((a, b) => pick(a, b));
}
