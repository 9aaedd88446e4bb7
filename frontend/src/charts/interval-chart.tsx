/**
 * Draws values with intervals over a category or a number, with reference lines and marks. It knows
 * points, bands and labels, nothing of arms or benchmarks.
 */
import {
  Area,
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceArea,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
  usePlotArea,
} from 'recharts';

import { intervalAxes, type IntervalAxes } from './interval-axes';
import type {
  IntervalChartProps,
  IntervalSeries,
  ReferenceMark,
  VerticalMark,
} from './interval-picture';
import { IntervalReadout } from './interval-readout';
import { AXIS, GRID, MARKER_PATHS, MAX_DOTS, seriesLook } from './palette';

/** Positions of labels. A reference line has no height, so `insideBottom` puts the label above it. */
const SIDES = { above: 'insideBottomRight', below: 'insideTopRight' } as const;
/** Height of the label of a vertical mark, px. */
const MARK_ROW = 15;

type Row = Record<string, string | number | null | [number, number]>;

function toRows(series: readonly IntervalSeries[], numeric: boolean): Row[] {
  const rows = new Map<string | number, Row>();
  for (const { name, points } of series) {
    for (const point of points) {
      const row = rows.get(point.x) ?? { x: point.x };
      row[name] = point.value;
      if (point.lower !== null && point.upper !== null)
        row[`${name} band`] = [point.lower, point.upper];
      rows.set(point.x, row);
    }
  }
  const all = [...rows.values()];
  return numeric
    ? all.toSorted((a, b) => Number(a['x']) - Number(b['x']))
    : all;
}

function referenceLines(references: readonly ReferenceMark[]) {
  return references.map((mark) => (
    <ReferenceLine
      key={mark.label}
      y={mark.y}
      stroke="var(--pl-text)"
      strokeOpacity={0.75}
      {...(mark.dash === undefined ? {} : { strokeDasharray: mark.dash })}
      label={{
        value: mark.label,
        position: SIDES[mark.side],
        fill: 'var(--pl-muted)',
        fontSize: 11,
      }}
    />
  ));
}

function markColor({ look }: VerticalMark): string {
  return look === undefined ? 'var(--pl-text)' : seriesLook(look).color;
}

/** Draws each mark's label in a row of its own above the plot, so that labels do not overlap. */
function verticalMarks(marks: readonly VerticalMark[]) {
  return marks.map((mark, row) => (
    <ReferenceLine
      key={mark.label}
      x={mark.x}
      stroke={markColor(mark)}
      strokeWidth={1.5}
      strokeDasharray="3 3"
      label={({ viewBox }: { viewBox?: { x?: number; y?: number } }) => (
        <MarkLabel
          mark={mark}
          x={viewBox?.x ?? 0}
          y={(viewBox?.y ?? 0) - 4 - (marks.length - 1 - row) * MARK_ROW}
        />
      )}
    />
  ));
}

/** Mean width of a letter of such a label, px. */
const LETTER_PX = 6.7;

/** Draws a label right of its line, or left if there is more room; a label too long for either ends with the plot. */
function MarkLabel({
  mark,
  x,
  y,
}: {
  mark: VerticalMark;
  x: number;
  y: number;
}) {
  const plot = usePlotArea();
  const end = plot === undefined ? Infinity : plot.x + plot.width;
  const left = plot !== undefined && x > plot.x + plot.width / 2;
  const isTooLong = !left && x + 4 + mark.label.length * LETTER_PX > end;
  return (
    <text
      x={isTooLong ? end : left ? x - 4 : x + 4}
      y={y}
      textAnchor={left || isTooLong ? 'end' : 'start'}
      fill={markColor(mark)}
      fontSize={12}
      fontWeight={600}
    >
      {mark.label}
    </text>
  );
}

function bands(series: readonly IntervalSeries[]) {
  return series.map(({ name, look }, index) => (
    <Area
      key={`${name} band`}
      dataKey={`${name} band`}
      stroke="none"
      fill={seriesLook(look ?? index).color}
      fillOpacity={Math.max(0.06, 0.4 / (series.length + 1))}
      isAnimationActive={false}
      dot={false}
      activeDot={false}
      connectNulls
    />
  ));
}

function lines(series: readonly IntervalSeries[], dots: boolean) {
  return series.map(({ name, look }, index) => {
    const { color, dash, marker } = seriesLook(look ?? index);
    return (
      <Line
        key={name}
        dataKey={name}
        stroke={color}
        strokeWidth={2}
        strokeDasharray={dash}
        isAnimationActive={false}
        activeDot={false}
        connectNulls
        dot={
          dots &&
          (({
            cx,
            cy,
            index: at,
          }: {
            cx?: number;
            cy?: number;
            index?: number;
          }) =>
            cx === undefined || cy === undefined || Number.isNaN(cy) ? null : (
              <path
                key={`${name} ${at}`}
                d={MARKER_PATHS[marker]}
                transform={`translate(${cx} ${cy})`}
                fill={color}
              />
            ))
        }
      />
    );
  });
}

function xAxis(
  { xLabel, formatX, series }: IntervalChartProps,
  { x }: IntervalAxes,
) {
  const label = {
    value: xLabel,
    position: 'insideBottom' as const,
    offset: -12,
    ...AXIS,
  };
  const own = {
    dataKey: 'x',
    tick: AXIS,
    stroke: GRID,
    padding: { left: 24, right: 24 },
    label,
  };
  if (x === undefined || series.length === 0) return <XAxis {...own} />;
  return (
    <XAxis
      {...own}
      type="number"
      scale={x.scale === 'log' ? 'log' : 'linear'}
      domain={[x.domain[0], x.domain[1]]}
      ticks={x.ticks}
      {...(formatX === undefined ? {} : { tickFormatter: formatX })}
    />
  );
}

export function IntervalChart(props: IntervalChartProps) {
  const {
    series,
    references,
    marks = [],
    band,
    yLabel,
    format,
    height = 260,
  } = props;
  const axes = intervalAxes(props);
  const rows = toRows(series, axes.x !== undefined);
  const top = 8 + marks.length * MARK_ROW;
  const tall = height + marks.length * MARK_ROW;
  return (
    <ResponsiveContainer
      width="100%"
      height={tall}
      initialDimension={{ width: 640, height: tall }}
    >
      <ComposedChart
        data={rows}
        margin={{ top, right: 16, bottom: 22, left: 8 }}
        accessibilityLayer={false}
      >
        <CartesianGrid stroke={GRID} vertical={false} />
        {xAxis(props, axes)}
        <YAxis
          tick={AXIS}
          stroke={GRID}
          width={72}
          scale={axes.y.scale === 'log' ? 'log' : 'linear'}
          domain={[axes.y.domain[0], axes.y.domain[1]]}
          allowDataOverflow={axes.y.scale === 'log'}
          tickFormatter={format}
          ticks={axes.y.ticks}
          label={{
            value: yLabel,
            angle: -90,
            position: 'insideLeft',
            ...AXIS,
            dy: 40,
          }}
        />
        <Tooltip
          isAnimationActive={false}
          content={({ active, label }) =>
            active === true ? (
              <IntervalReadout x={label as string | number} {...props} />
            ) : null
          }
        />
        {band !== undefined && (
          <ReferenceArea
            y1={band[0]}
            y2={band[1]}
            fill="var(--pl-text)"
            fillOpacity={0.1}
            stroke="none"
          />
        )}
        {referenceLines(references)}
        {bands(series)}
        {lines(series, rows.length * series.length <= MAX_DOTS)}
        {verticalMarks(marks)}
      </ComposedChart>
    </ResponsiveContainer>
  );
}
