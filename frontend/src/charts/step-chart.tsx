/**
 * Draws cumulative shares as steps, one line per series on a shared numeric axis, without dots or
 * animation.
 */
import {
  CartesianGrid,
  Line,
  LineChart,
  ReferenceLine,
  ResponsiveContainer,
  XAxis,
  YAxis,
} from 'recharts';

import { AXIS, GRID, seriesLook } from './palette';
import { niceTicks } from './ticks';

export interface StepSeries {
  name: string;
  points: readonly { x: number; share: number }[];
}

export interface StepChartProps {
  series: readonly StepSeries[];
  xLabel: string;
  format: (value: number) => string;
  /** The end of the axis, if not that of the data. */
  until?: number | undefined;
  height?: number;
}

export function StepChart({
  series,
  xLabel,
  format,
  until,
  height = 280,
}: StepChartProps) {
  const values = series.flatMap(({ points }) => points.map(({ x }) => x));
  const { domain, ticks } = niceTicks(
    Math.min(...values),
    until ?? Math.max(...values),
    6,
  );
  return (
    <ResponsiveContainer
      width="100%"
      height={height}
      initialDimension={{ width: 640, height }}
    >
      <LineChart
        margin={{ top: 8, right: 24, bottom: 22, left: 0 }}
        accessibilityLayer={false}
      >
        <CartesianGrid stroke={GRID} />
        <XAxis
          dataKey="x"
          type="number"
          domain={[domain[0], domain[1]]}
          allowDataOverflow={until !== undefined}
          ticks={ticks}
          tick={AXIS}
          stroke={GRID}
          tickFormatter={format}
          label={{
            value: xLabel,
            position: 'insideBottom',
            offset: -12,
            ...AXIS,
          }}
        />
        <YAxis
          dataKey="share"
          type="number"
          domain={[0, 1]}
          ticks={[0, 0.25, 0.5, 0.75, 1]}
          tick={AXIS}
          stroke={GRID}
          width={52}
          tickFormatter={(share: number) => `${Math.round(share * 100)} %`}
        />
        <ReferenceLine
          y={0.5}
          stroke="var(--pl-text)"
          strokeOpacity={0.6}
          strokeDasharray="4 4"
          label={{
            value: 'median',
            position: 'insideTopRight',
            fill: 'var(--pl-muted)',
            fontSize: 11,
          }}
        />
        {series.map(({ name, points }, index) => (
          <Line
            key={name}
            data={[...points]}
            dataKey="share"
            type="stepAfter"
            stroke={seriesLook(index).color}
            strokeWidth={2}
            strokeDasharray={seriesLook(index).dash}
            dot={false}
            activeDot={false}
            isAnimationActive={false}
          />
        ))}
      </LineChart>
    </ResponsiveContainer>
  );
}
