/** Draws the target's conditions during each point, on the time axis of the chart above. */
import { memo } from 'react';

import type { SeriesPoint } from '../../api/types';
import { extentOf } from '../../charts/history-frame';
import type { Extent } from '../../charts/history-picture';
import { TrackChart } from '../../charts/track-chart';
import {
  compareConditions,
  conditionFormat,
  conditionLabels,
} from '../../lib/conditions';
import classes from './series.module.css';

export interface PointTracksProps {
  points: readonly SeriesPoint[];
  tracks: readonly string[];
  span: Extent;
}

/** Number of tracks that are drawn; the table has all. */
const MAX_DRAWN_TRACKS = 6;

export const PointTracks = memo(function PointTracks({
  points,
  tracks,
  span,
}: PointTracksProps) {
  const [start, stop] = extentOf(span);
  const keys = tracks.toSorted(compareConditions);
  const labels = conditionLabels(keys);
  const drawn = keys
    .map((key, index) => ({
      key,
      label: labels[index] ?? key,
      format: conditionFormat(key),
      values: points.flatMap(({ at, conditions }) => {
        const track = conditions[key];
        return track === undefined
          ? []
          : [
              {
                seconds: (Date.parse(at) - start) / 1000,
                value: track.median,
                max: track.max,
              },
            ];
      }),
    }))
    .filter(({ values }) => values.length > 1)
    .slice(0, MAX_DRAWN_TRACKS);
  if (drawn.length === 0) return null;
  return (
    <section aria-label="Conditions">
      <h4 className={classes.tracksHead}>
        Conditions while measuring, the median of each job
      </h4>
      {drawn.map(({ key, label, format, values }) => {
        const medians = values.map(({ value }) => value);
        const peak = Math.max(...values.map(({ max }) => max));
        const range = `${format(Math.min(...medians))} to ${format(Math.max(...medians))}`;
        const words = `${range}, at most ${format(peak)}`;
        return (
          <div
            key={key}
            role="img"
            aria-label={`${label}: ${words}`}
            className={classes.track}
          >
            <div className={classes.trackName}>
              {label} <span>{words}</span>
            </div>
            <TrackChart
              points={values}
              span={[0, (stop - start) / 1000]}
              format={format}
              showAxis={false}
            />
          </div>
        );
      })}
    </section>
  );
});
