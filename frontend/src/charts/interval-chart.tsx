/**
 * Values with their intervals over an ordered category, against reference lines. Generic: it knows points,
 * bands and labels, nothing of arms or benchmarks. Bands are `Area`s; nothing is animated.
 */
import {
  Area,
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';

import classes from './charts.module.css';
import { AXIS, GRID, MAX_DOTS, seriesLook } from './palette';
import { niceTicks } from './ticks';

export interface IntervalPoint {
  x: string;
  value: number | null;
  lower: number | null;
  upper: number | null;
}

export interface IntervalSeries {
  name: string;
  points: readonly IntervalPoint[];
}

export interface ReferenceMark {
  y: number;
  label: string;
  /** Where the label stands: two lines close together need one each. */
  side: 'above' | 'below';
  dash?: string;
}

export interface IntervalChartProps {
  series: readonly IntervalSeries[];
  references: readonly ReferenceMark[];
  xLabel: string;
  yLabel: string;
  format: (value: number) => string;
  height?: number;
}

/** A reference line has no height, so `insideBottom` hangs the label above it. */
const SIDES = { above: 'insideBottomRight', below: 'insideTopRight' } as const;

type Row = Record<string, string | number | null | [number, number]>;

function toRows(series: readonly IntervalSeries[]): Row[] {
  const rows = new Map<string, Row>();
  for (const { name, points } of series) {
    for (const point of points) {
      const row = rows.get(point.x) ?? { x: point.x };
      row[name] = point.value;
      if (point.lower !== null && point.upper !== null) row[`${name} band`] = [point.lower, point.upper];
      rows.set(point.x, row);
    }
  }
  return [...rows.values()];
}

/** Round ticks that hold every interval and every reference. */
function yTicks(series: readonly IntervalSeries[], references: readonly ReferenceMark[]) {
  const values = series.flatMap(({ points }) => points.flatMap((p) => [p.value, p.lower, p.upper]));
  const known = [...values, ...references.map(({ y }) => y)].filter((value) => value !== null);
  return niceTicks(Math.min(...known), Math.max(...known));
}

function referenceLines(references: readonly ReferenceMark[]) {
  return references.map((mark) => (
    <ReferenceLine
      key={mark.label}
      y={mark.y}
      stroke="var(--pl-text)"
      strokeOpacity={0.75}
      {...(mark.dash === undefined ? {} : { strokeDasharray: mark.dash })}
      label={{ value: mark.label, position: SIDES[mark.side], fill: 'var(--pl-muted)', fontSize: 11 }}
    />
  ));
}

function bands(series: readonly IntervalSeries[]) {
  return series.map(({ name }, index) => (
    <Area
      key={`${name} band`}
      dataKey={`${name} band`}
      stroke="none"
      fill={seriesLook(index).color}
      fillOpacity={0.2}
      isAnimationActive={false}
      dot={false}
      activeDot={false}
    />
  ));
}

function lines(series: readonly IntervalSeries[], dots: boolean) {
  return series.map(({ name }, index) => (
    <Line
      key={name}
      dataKey={name}
      stroke={seriesLook(index).color}
      strokeWidth={2}
      strokeDasharray={seriesLook(index).dash}
      isAnimationActive={false}
      activeDot={false}
      dot={dots ? { r: 3.5, strokeDasharray: '0' } : false}
    />
  ));
}

export function IntervalChart(props: IntervalChartProps) {
  const { series, references, xLabel, yLabel, format, height = 260 } = props;
  const { domain, ticks } = yTicks(series, references);
  const rows = toRows(series);
  return (
    <ResponsiveContainer width="100%" height={height} initialDimension={{ width: 640, height }}>
      <ComposedChart
        data={rows}
        margin={{ top: 8, right: 16, bottom: 22, left: 8 }}
        accessibilityLayer={false}
      >
        <CartesianGrid stroke={GRID} vertical={false} />
        <XAxis
          dataKey="x"
          tick={AXIS}
          stroke={GRID}
          padding={{ left: 24, right: 24 }}
          label={{ value: xLabel, position: 'insideBottom', offset: -12, ...AXIS }}
        />
        <YAxis
          tick={AXIS}
          stroke={GRID}
          width={64}
          domain={[domain[0], domain[1]]}
          tickFormatter={format}
          ticks={ticks}
          label={{ value: yLabel, angle: -90, position: 'insideLeft', ...AXIS, dy: 40 }}
        />
        <Tooltip
          isAnimationActive={false}
          content={({ active, label }) => (active === true ? <Readout x={String(label)} {...props} /> : null)}
        />
        {referenceLines(references)}
        {bands(series)}
        {lines(series, rows.length <= MAX_DOTS)}
      </ComposedChart>
    </ResponsiveContainer>
  );
}

function Readout({ x, series, format, xLabel }: { x: string } & IntervalChartProps) {
  return (
    <div className={classes.tooltip}>
      <strong>
        {xLabel} {x}
      </strong>
      {series.map(({ name, points }) => {
        const point = points.find((candidate) => candidate.x === x);
        if (point?.value === null || point === undefined) return null;
        const band =
          point.lower === null || point.upper === null
            ? ''
            : ` (${format(point.lower)} – ${format(point.upper)})`;
        return (
          <div key={name}>
            {name}: {format(point.value)}
            {band}
          </div>
        );
      })}
    </div>
  );
}
