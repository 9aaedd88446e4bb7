/**
 * Points over time with their spread, the levels they lie at, bands and marks; the pointer reads, chooses and
 * drags out a window. Generic: it knows times, values and labels, nothing of series. Whoever uses it offers
 * the same by keyboard (`HistoryControls`), for what is drawn here is a picture. Nothing is animated.
 */
import { useState, type PointerEvent } from 'react';
import { CartesianGrid, ComposedChart, Line, ResponsiveContainer, XAxis, YAxis } from 'recharts';

import {
  extentOf,
  instantAt,
  nearest,
  PLOT_LEFT,
  PLOT_RIGHT,
  placeLabels,
  placeOf,
  valueAxis,
  type Extent,
  type PlacedLabel,
} from './history-frame';
import classes from './history-chart.module.css';
import { HistoryPlot } from './history-plot';
import { AXIS, GRID } from './palette';
import { timeTicks } from './time-ticks';

export interface HistoryPoint {
  key: string;
  at: number;
  value: number;
  lower: number;
  upper: number;
  /** Shown and not counted: drawn apart. */
  aside: boolean;
}

export interface HistoryLevel {
  from: number;
  to: number;
  level: number;
  lower: number;
  upper: number;
}

/** Null: to the edge of the plot. */
export interface HistoryBand {
  kind: 'limit' | 'noise';
  from: number;
  to: number | null;
  low: number | null;
  high: number | null;
}

export interface HistoryMark {
  key: string;
  at: number;
  label: string;
  tone: 'bad' | 'good' | 'quiet' | 'note';
}

export interface HistoryChartProps {
  points: readonly HistoryPoint[];
  levels: readonly HistoryLevel[];
  bands: readonly HistoryBand[];
  marks: readonly HistoryMark[];
  span: Extent;
  chosen: string | undefined;
  /** `step`: how far the values it stands among lie apart. */
  format: (value: number, step: number) => string;
  /** What stands beside the pointer; the first line is its heading. */
  describe: (key: string) => readonly string[];
  onChoose: (key: string) => void;
  onZoom: (from: number, to: number) => void;
}

const HEIGHT = 320;
/** Room above the plot and its labels, px. */
const HEAD = 10;
/** Height of a row of labels above the plot, px. */
const LABEL_ROW = 16;
/** A drag shorter than this is a click, px. */
const CLICK_PX = 6;

interface Drag {
  start: number;
  now: number;
}

function measure(event: PointerEvent<HTMLDivElement>) {
  const box = event.currentTarget.getBoundingClientRect();
  return { x: event.clientX - box.left, width: box.width };
}

/** The pointer over the plot: what it is nearest to, and the window it drags out. */
function usePointer({ points, onChoose, onZoom }: HistoryChartProps, extent: Extent) {
  const [over, setOver] = useState<string>();
  const [drag, setDrag] = useState<Drag>();
  const down = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0) return;
    const { x } = measure(event);
    // Keeps the drag when the pointer leaves the plot; not every environment has it.
    if ('setPointerCapture' in event.currentTarget) event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ start: x, now: x });
  };
  const move = (event: PointerEvent<HTMLDivElement>) => {
    const { x, width } = measure(event);
    setOver(nearest(points, instantAt(x, width, extent))?.key);
    if (drag !== undefined) setDrag({ ...drag, now: x });
  };
  const up = (event: PointerEvent<HTMLDivElement>) => {
    if (drag === undefined) return;
    const { x, width } = measure(event);
    setDrag(undefined);
    const [first, last] = [Math.min(drag.start, x), Math.max(drag.start, x)];
    if (last - first >= CLICK_PX) {
      onZoom(instantAt(first, width, extent), instantAt(last, width, extent));
      return;
    }
    const found = nearest(points, instantAt(x, width, extent));
    if (found !== undefined) onChoose(found.key);
  };
  const leave = () => {
    setOver(undefined);
    setDrag(undefined);
  };
  const handlers = {
    onPointerDown: down,
    onPointerMove: move,
    onPointerUp: up,
    onPointerLeave: leave,
    onPointerCancel: leave,
  };
  return { over, drag, handlers };
}

export function HistoryChart(props: HistoryChartProps) {
  const { points, marks, span, describe } = props;
  const [width, setWidth] = useState(640);
  const extent = extentOf(span);
  const { over, drag, handlers } = usePointer(props, extent);
  const labels = placeLabels(marks, width, extent);
  const rows = labels.reduce((most, { row }) => Math.max(most, row + 1), 0);
  const top = HEAD + rows * LABEL_ROW;
  const read = points.find(({ key }) => key === over);
  return (
    <div className={classes.host} {...handlers}>
      <Drawing
        {...props}
        extent={extent}
        width={width}
        labels={labels}
        over={over}
        top={top}
        onWidth={setWidth}
      />
      {drag !== undefined && Math.abs(drag.now - drag.start) >= CLICK_PX && (
        <div
          className={classes.window}
          style={{ top, left: Math.min(drag.start, drag.now), width: Math.abs(drag.now - drag.start) }}
        />
      )}
      {read !== undefined && drag === undefined && (
        <Readout x={placeOf(read.at, width, extent)} width={width} top={top} lines={describe(read.key)} />
      )}
    </div>
  );
}

interface DrawingProps extends HistoryChartProps {
  extent: Extent;
  width: number;
  labels: readonly PlacedLabel[];
  over: string | undefined;
  /** Height above the plot, px. */
  top: number;
  onWidth: (width: number) => void;
}

function Drawing(props: DrawingProps) {
  const { points, format, extent, width, top, onWidth } = props;
  const tall = HEIGHT + top - HEAD;
  const value = valueAxis(props);
  const step = (value.ticks[1] ?? 1) - (value.ticks[0] ?? 0);
  const time = timeTicks(extent[0], extent[1], Math.max(4, Math.floor(width / 110)));
  return (
    <ResponsiveContainer
      width="100%"
      height={tall}
      initialDimension={{ width: 640, height: tall }}
      onResize={onWidth}
    >
      <ComposedChart margin={{ top, right: PLOT_RIGHT, bottom: 4, left: 0 }} accessibilityLayer={false}>
        <CartesianGrid stroke={GRID} vertical={false} />
        <XAxis
          dataKey="at"
          type="number"
          domain={[extent[0], extent[1]]}
          allowDataOverflow
          ticks={time.ticks}
          tick={AXIS}
          stroke={GRID}
          tickFormatter={time.format}
        />
        <YAxis
          width={PLOT_LEFT}
          tick={AXIS}
          stroke={GRID}
          ticks={value.ticks}
          domain={[value.domain[0], value.domain[1]]}
          allowDataOverflow
          tickFormatter={(tick: number) => format(tick, step)}
        />
        <Line
          data={points.filter(({ aside }) => !aside)}
          dataKey="value"
          stroke="var(--pl-series-0)"
          strokeOpacity={0.35}
          strokeWidth={1}
          isAnimationActive={false}
          dot={false}
          activeDot={false}
        />
        <HistoryPlot {...props} rowHeight={LABEL_ROW} />
      </ComposedChart>
    </ResponsiveContainer>
  );
}

interface ReadoutProps {
  x: number;
  width: number;
  top: number;
  lines: readonly string[];
}

/** Beside the point, on the side where there is more room. */
function Readout({ x, width, top, lines }: ReadoutProps) {
  const side = x > width / 2 ? { right: width - x + 10 } : { left: x + 10 };
  return (
    <div className={classes.readout} style={{ top: top + 6, ...side }}>
      {lines.map((line, index) =>
        index === 0 ? <strong key={line}>{line}</strong> : <div key={line}>{line}</div>,
      )}
    </div>
  );
}
