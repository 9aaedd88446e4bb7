/**
 * Draws points over time with their spread, levels, bands and marks; the pointer reads points, selects one or drags a
 * window. It knows times, values and labels, nothing of series. Callers offer the same by keyboard
 * (`HistoryControls`), because the drawing is a picture.
 */
import { memo, useMemo, useState, type PointerEvent } from 'react';
import {
  CartesianGrid,
  ComposedChart,
  Line,
  ResponsiveContainer,
  XAxis,
  YAxis,
} from 'recharts';

import {
  AXIS_HEIGHT,
  FOOT_HEIGHT,
  instantAt,
  layoutOf,
  findNearestPoint,
  PLOT_LEFT,
  PLOT_RIGHT,
  pointPosition,
  type Layout,
} from './history-frame';
import classes from './history-chart.module.css';
import type { HistoryPicture, HistoryPoint } from './history-picture';
import { HistoryPlot } from './history-plot';
import { AXIS, GRID } from './palette';
import { timeTicks } from './time-ticks';

export interface HistoryChartProps {
  picture: HistoryPicture;
  chosen: string | undefined;
  /** Returns the lines of the tooltip of a point; the first is its heading. */
  describe: (key: string) => readonly string[];
  onChoose: (key: string) => void;
  onZoom: (from: number, to: number) => void;
}

/** A shorter drag than this is a click, px. */
const MAX_CLICK_PX = 6;

interface Drag {
  start: number;
  now: number;
}

function measure(event: PointerEvent<HTMLDivElement>) {
  const box = event.currentTarget.getBoundingClientRect();
  return { x: event.clientX - box.left, width: box.width };
}

/** Handles the pointer over the plot: the nearest point, and the window that is dragged. */
function usePointer(
  { picture: { points }, onChoose, onZoom }: HistoryChartProps,
  { extent }: Layout,
) {
  const [over, setOver] = useState<string>();
  const [drag, setDrag] = useState<Drag>();
  const down = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0) return;
    const { x } = measure(event);
    // Captures the drag when the pointer leaves the plot; jsdom lacks the function.
    if ('setPointerCapture' in event.currentTarget)
      event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ start: x, now: x });
  };
  const move = (event: PointerEvent<HTMLDivElement>) => {
    const { x, width } = measure(event);
    setOver(findNearestPoint(points, instantAt(x, width, extent))?.key);
    if (drag !== undefined) setDrag({ ...drag, now: x });
  };
  const up = (event: PointerEvent<HTMLDivElement>) => {
    if (drag === undefined) return;
    const { x, width } = measure(event);
    setDrag(undefined);
    const [first, last] = [Math.min(drag.start, x), Math.max(drag.start, x)];
    if (last - first >= MAX_CLICK_PX) {
      onZoom(instantAt(first, width, extent), instantAt(last, width, extent));
      return;
    }
    const point = findNearestPoint(points, instantAt(x, width, extent));
    if (point !== undefined) onChoose(point.key);
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
  const { picture, chosen, describe } = props;
  const [width, setWidth] = useState(640);
  const layout = useMemo(() => layoutOf(picture, width), [picture, width]);
  const { over, drag, handlers } = usePointer(props, layout);
  const { top } = layout;
  const read = picture.points.find(({ key }) => key === over);
  return (
    <div className={classes.host} {...handlers}>
      <Drawing picture={picture} layout={layout} onWidth={setWidth} />
      <Rings
        points={picture.points}
        chosen={chosen}
        over={over}
        layout={layout}
      />
      {drag !== undefined &&
        Math.abs(drag.now - drag.start) >= MAX_CLICK_PX && (
          <div
            className={classes.window}
            style={{
              top,
              left: Math.min(drag.start, drag.now),
              width: Math.abs(drag.now - drag.start),
            }}
          />
        )}
      {read !== undefined && drag === undefined && (
        <Readout
          x={pointPosition(layout, read).x}
          width={width}
          top={top}
          lines={describe(read.key)}
        />
      )}
    </div>
  );
}

interface DrawingProps {
  picture: HistoryPicture;
  layout: Layout;
  onWidth: (width: number) => void;
}

/** Draws the expensive part once; everything that moves with the pointer or the slider is drawn above it. */
const Drawing = memo(function Drawing({
  picture,
  layout,
  onWidth,
}: DrawingProps) {
  const { extent, axis, width, top, tall } = layout;
  const step = (axis.ticks[1] ?? 1) - (axis.ticks[0] ?? 0);
  const time = timeTicks(
    extent[0],
    extent[1],
    Math.max(4, Math.floor(width / 110)),
  );
  return (
    <ResponsiveContainer
      width="100%"
      height={tall}
      initialDimension={{ width: 640, height: tall }}
      onResize={onWidth}
    >
      <ComposedChart
        margin={{ top, right: PLOT_RIGHT, bottom: FOOT_HEIGHT, left: 0 }}
        accessibilityLayer={false}
      >
        <CartesianGrid stroke={GRID} vertical={false} />
        <XAxis
          dataKey="at"
          type="number"
          height={AXIS_HEIGHT}
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
          ticks={axis.ticks}
          domain={[axis.domain[0], axis.domain[1]]}
          allowDataOverflow
          tickFormatter={(tick: number) => picture.format(tick, step)}
        />
        <Line
          data={picture.points.filter(({ aside }) => !aside)}
          dataKey="value"
          stroke="var(--pl-series-0)"
          strokeOpacity={0.35}
          strokeWidth={1}
          isAnimationActive={false}
          dot={false}
          activeDot={false}
        />
        <HistoryPlot picture={picture} labels={layout.labels} />
      </ComposedChart>
    </ResponsiveContainer>
  );
});

interface RingsProps {
  points: readonly HistoryPoint[];
  chosen: string | undefined;
  over: string | undefined;
  layout: Layout;
}

/** Draws rings around the selected point and the one under the pointer. */
function Rings({ points, chosen, over, layout }: RingsProps) {
  const ringed = points.filter(({ key }) => key === chosen || key === over);
  return (
    <svg className={classes.rings} aria-hidden="true" focusable="false">
      {ringed.map((point) => {
        const { x, y } = pointPosition(layout, point);
        return (
          <g key={point.key} stroke="var(--pl-text)" fill="none">
            <line
              x1={x}
              x2={x}
              y1={layout.top}
              y2={layout.tall - AXIS_HEIGHT - FOOT_HEIGHT}
              strokeOpacity={0.25}
            />
            <circle
              cx={x}
              cy={y}
              r={7}
              strokeOpacity={point.key === chosen ? 1 : 0.5}
              strokeWidth={2}
            />
          </g>
        );
      })}
    </svg>
  );
}

interface ReadoutProps {
  x: number;
  width: number;
  top: number;
  lines: readonly string[];
}

/** Shows the tooltip beside the point, on the side with more room. */
function Readout({ x, width, top, lines }: ReadoutProps) {
  const side = x > width / 2 ? { right: width - x + 10 } : { left: x + 10 };
  return (
    <div className={classes.readout} style={{ top: top + 6, ...side }}>
      {lines.map((line, index) =>
        index === 0 ? (
          <strong key={line}>{line}</strong>
        ) : (
          <div key={line}>{line}</div>
        ),
      )}
    </div>
  );
}
