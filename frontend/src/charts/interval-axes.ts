/** Chooses scale, range and ticks of an interval chart's axes. */
import type { IntervalChartProps, Scale } from './interval-picture';
import { logTicks, niceTicks, spansDecades, type Ticks } from './ticks';

export interface Axis extends Ticks {
  scale: Scale;
}

export interface IntervalAxes {
  /** Absent on an axis of categories. */
  x: Axis | undefined;
  y: Axis;
}

type AxisInput = Pick<
  IntervalChartProps,
  'series' | 'references' | 'xScale' | 'yScale'
>;

/** Returns round ticks that contain every interval and every reference; log only if all data are positive. */
function yAxis({ series, references, yScale }: AxisInput): Axis {
  const values = series.flatMap(({ points }) =>
    points.flatMap((p) => [p.value, p.lower, p.upper]),
  );
  const known = [...values, ...references.map(({ y }) => y)].filter(
    (value) => value !== null,
  );
  if (known.length === 0) return { scale: 'linear', ...niceTicks(0, 1) };
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (yScale === 'log' && spansDecades(low, high))
    return { scale: 'log', ...logTicks(low, high) };
  return { scale: 'linear', ...niceTicks(low, high) };
}

/** Returns ticks at the measured values. */
function xAxis({ series, xScale = 'category' }: AxisInput): Axis | undefined {
  if (xScale === 'category') return undefined;
  const values = [
    ...new Set(
      series.flatMap(({ points }) => points.map(({ x }) => Number(x))),
    ),
  ];
  const ticks = values.toSorted((a, b) => a - b);
  return { scale: xScale, domain: [ticks[0] ?? 0, ticks.at(-1) ?? 1], ticks };
}

export function intervalAxes(given: AxisInput): IntervalAxes {
  return { x: xAxis(given), y: yAxis(given) };
}

/** Returns the scale for measured values of a param: log if they span decades. */
export function chooseScale(values: readonly number[]): Scale {
  return spansDecades(Math.min(...values), Math.max(...values))
    ? 'log'
    : 'linear';
}
