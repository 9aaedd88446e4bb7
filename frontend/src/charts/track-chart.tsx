/** Draws one quantity over time in a small chart; several charts share one time axis. */
import { Area, AreaChart, ResponsiveContainer, XAxis, YAxis } from 'recharts';

import { AXIS, GRID } from './palette';
import { niceTicks } from './ticks';

export interface TrackPoint {
  seconds: number;
  value: number;
}

export interface TrackChartProps {
  points: readonly TrackPoint[];
  span: readonly [number, number];
  format: (value: number) => string;
  showAxis: boolean;
  /** Ticks of the time axis, s; by default, round seconds. */
  axis?: { ticks: readonly number[]; format: (tick: number) => string };
  /** Draws steps, for readings that are stored only when they change. */
  stepped?: boolean;
  /** Gaps without readings, in order; no line is drawn across them. */
  gaps?: readonly Gap[];
}

/** The last reading before a gap and the first after it, in the unit of the points (s). */
export interface Gap {
  after: number;
  until: number;
}

/** Returns the points with null in each gap, so that the line is interrupted there. */
export function pointsWithGaps(
  points: readonly TrackPoint[],
  gaps: readonly Gap[],
): readonly { seconds: number; value: number | null }[] {
  return points.flatMap((point, index) => {
    const before = points[index - 1];
    const gap = gaps.find(
      ({ after, until }) =>
        before !== undefined &&
        after >= before.seconds &&
        after < point.seconds &&
        until <= point.seconds,
    );
    if (before === undefined || gap === undefined) return [point];
    const end = { seconds: gap.after, value: before.value };
    return [
      ...(gap.after > before.seconds ? [end] : []),
      { seconds: gap.after, value: null },
      point,
    ];
  });
}

/** Returns at most `limit` points by keeping the largest of each stride, so that no peak is hidden. */
export function thinKeepingPeaks(
  points: readonly TrackPoint[],
  limit: number,
): readonly TrackPoint[] {
  if (points.length <= limit) return points;
  const stride = Math.ceil(points.length / limit);
  const kept: TrackPoint[] = [];
  for (let start = 0; start < points.length; start += stride) {
    const slice = points.slice(start, start + stride);
    const peak = slice.reduce((best, point) =>
      point.value > best.value ? point : best,
    );
    kept.push(peak);
  }
  return kept;
}

const SECONDS = (tick: number) => `${tick} s`;

const NO_GAPS: readonly Gap[] = [];

export function TrackChart({
  points,
  span,
  format,
  showAxis,
  axis,
  stepped = false,
  gaps = NO_GAPS,
}: TrackChartProps) {
  const height = showAxis ? 84 : 64;
  const values = points.map(({ value }) => value);
  const { domain } = niceTicks(Math.min(...values), Math.max(...values), 2);
  const seconds =
    axis?.ticks ??
    niceTicks(span[0], span[1], 5).ticks.filter((tick) => tick <= span[1]);
  return (
    <ResponsiveContainer
      width="100%"
      height={height}
      initialDimension={{ width: 480, height }}
    >
      <AreaChart
        data={[...pointsWithGaps(points, gaps)]}
        margin={{ top: 6, right: 12, bottom: 0, left: 0 }}
        accessibilityLayer={false}
      >
        <XAxis
          dataKey="seconds"
          type="number"
          domain={[span[0], span[1]]}
          hide={!showAxis}
          ticks={[...seconds]}
          tick={AXIS}
          stroke={GRID}
          height={20}
          tickFormatter={axis?.format ?? SECONDS}
        />
        <YAxis
          width={72}
          tick={AXIS}
          stroke={GRID}
          ticks={[...domain]}
          domain={[domain[0], domain[1]]}
          tickFormatter={format}
        />
        <Area
          dataKey="value"
          type={stepped ? 'stepAfter' : 'linear'}
          stroke="var(--pl-series-0)"
          strokeWidth={1.5}
          fill="var(--pl-series-0)"
          fillOpacity={0.14}
          isAnimationActive={false}
          dot={false}
          activeDot={false}
        />
      </AreaChart>
    </ResponsiveContainer>
  );
}
