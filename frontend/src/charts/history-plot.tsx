/**
 * Draws the plot and axes of a history chart: bands, levels, marks, points. It uses few paths instead of an element per
 * point, so that 500 points are drawn as fast as one.
 */
import { useId } from 'react';
import { usePlotArea, useXAxisScale, useYAxisScale } from 'recharts';

import type {
  HistoryMark,
  HistoryPicture,
  HistoryPoint,
} from './history-picture';
import { LABEL_ROW, type PlacedLabel } from './history-frame';

export interface HistoryPlotProps {
  picture: HistoryPicture;
  labels: readonly PlacedLabel[];
}

interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Functions that place times and values within the plot. */
interface PlotScale {
  area: Area;
  x: (at: number) => number;
  y: (value: number) => number;
  /** Returns on which side of the plot a value lies, or undefined if it is inside. */
  beyond: (value: number) => 'above' | 'below' | undefined;
}

const TONES: Readonly<
  Record<HistoryMark['tone'], { color: string; dash: string }>
> = {
  bad: { color: 'var(--pl-bad)', dash: '0' },
  good: { color: 'var(--pl-good)', dash: '0' },
  quiet: { color: 'var(--pl-quiet)', dash: '2 4' },
  note: { color: 'var(--pl-demo)', dash: '7 4' },
};
const BANDS = {
  limit: { fill: 'var(--pl-bad)', opacity: 0.09 },
  noise: { fill: 'var(--pl-unsure)', opacity: 0.16 },
} as const;
const DOT = 3.4;
/** With more points than this, dots and intervals are drawn finer. */
const MANY_POINTS = 150;

const clamp = (place: number | undefined, low: number, high: number) =>
  Math.min(high, Math.max(low, place ?? low));

function usePlotScale(): PlotScale | undefined {
  const [scaleX, scaleY, plot] = [
    useXAxisScale(),
    useYAxisScale(),
    usePlotArea(),
  ];
  if (scaleX === undefined || scaleY === undefined || plot === undefined)
    return undefined;
  const area = {
    left: plot.x,
    right: plot.x + plot.width,
    top: plot.y,
    bottom: plot.y + plot.height,
  };
  return {
    area,
    x: (at) => clamp(scaleX(at), area.left, area.right),
    y: (value) => clamp(scaleY(value), area.top, area.bottom),
    beyond: (value) => {
      const place = scaleY(value) ?? area.top;
      return place < area.top
        ? 'above'
        : place > area.bottom
          ? 'below'
          : undefined;
    },
  };
}

export function HistoryPlot({ picture, labels }: HistoryPlotProps) {
  const clip = useId();
  const places = usePlotScale();
  if (places === undefined) return null;
  const { area } = places;
  return (
    <g>
      <clipPath id={clip}>
        <rect
          x={area.left}
          y={area.top}
          width={Math.max(0, area.right - area.left)}
          height={Math.max(0, area.bottom - area.top)}
        />
      </clipPath>
      <g clipPath={`url(#${clip})`}>
        <Bands bands={picture.bands} places={places} />
        <Levels levels={picture.levels} places={places} />
      </g>
      <Marks marks={picture.marks} labels={labels} places={places} />
      <Points points={picture.points} places={places} />
    </g>
  );
}

function Bands({
  bands,
  places: { area, x, y },
}: Pick<HistoryPicture, 'bands'> & { places: PlotScale }) {
  return bands.map(({ kind, from, to, low, high }) => {
    const top = high === null ? area.top : y(high);
    const bottom = low === null ? area.bottom : y(low);
    const edge = high === null ? bottom : top;
    const [left, right] = [x(from), to === null ? area.right : x(to)];
    return (
      <g key={kind}>
        <rect
          x={left}
          y={top}
          width={Math.max(0, right - left)}
          height={Math.max(0, bottom - top)}
          fill={BANDS[kind].fill}
          fillOpacity={BANDS[kind].opacity}
        />
        {kind === 'limit' && (
          <line
            x1={left}
            x2={right}
            y1={edge}
            y2={edge}
            stroke="var(--pl-bad)"
            strokeDasharray="6 4"
          />
        )}
      </g>
    );
  });
}

function Levels({
  levels,
  places: { x, y },
}: Pick<HistoryPicture, 'levels'> & { places: PlotScale }) {
  return levels.map(({ from, to, level, lower, upper }) => (
    <g key={from}>
      <rect
        x={x(from)}
        y={y(upper)}
        width={Math.max(1, x(to) - x(from))}
        height={Math.max(1, y(lower) - y(upper))}
        fill="var(--pl-series-0)"
        fillOpacity={0.08}
      />
      <line
        x1={x(from)}
        x2={x(to)}
        y1={y(level)}
        y2={y(level)}
        stroke="var(--pl-text)"
        strokeWidth={2}
      />
    </g>
  ));
}

interface MarksProps {
  marks: readonly HistoryMark[];
  labels: readonly PlacedLabel[];
  places: PlotScale;
}

/** Draws lines before labels, so that no line crosses a label. A line without a label ends above the plot. */
function Marks({ marks, labels, places: { area, x } }: MarksProps) {
  const heightOf = (row: number) => area.top - row * LABEL_ROW - 4;
  return (
    <g>
      {marks.map(({ key, at, tone }) => {
        const label = labels.find(({ mark }) => mark.key === key);
        return (
          <line
            key={key}
            x1={x(at)}
            x2={x(at)}
            y1={label === undefined ? area.top - 4 : heightOf(label.row) - 10}
            y2={area.bottom}
            stroke={TONES[tone].color}
            strokeWidth={1.5}
            strokeDasharray={TONES[tone].dash}
          />
        );
      })}
      {labels.map(({ mark, text, left, row }) => (
        <text
          key={mark.key}
          x={left ? x(mark.at) - 5 : x(mark.at) + 5}
          y={heightOf(row)}
          textAnchor={left ? 'end' : 'start'}
          fill={TONES[mark.tone].color}
          stroke="var(--pl-surface)"
          strokeWidth={3}
          paintOrder="stroke"
          fontSize={12}
          fontWeight={600}
        >
          {text}
        </text>
      ))}
    </g>
  );
}

const circle = (cx: number, cy: number, r: number) =>
  `M${(cx - r).toFixed(1)} ${cy.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
const cross = (cx: number, cy: number, r: number) =>
  `M${(cx - r).toFixed(1)} ${(cy - r).toFixed(1)}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;

const arrow = (cx: number, cy: number, away: 'above' | 'below') => {
  const [tip, base] = away === 'above' ? [cy + 2, cy + 11] : [cy - 2, cy - 11];
  return `M${cx} ${tip}L${cx + 6} ${base}H${cx - 6}z`;
};

function Points({
  points,
  places,
}: {
  points: readonly HistoryPoint[];
  places: PlotScale;
}) {
  const { x, y, beyond } = places;
  const r = points.length > MANY_POINTS ? 2 : DOT;
  const draw = (
    own: readonly HistoryPoint[],
    shape: typeof circle,
    radius: number,
  ) => own.map(({ at, value }) => shape(x(at), y(value), radius)).join('');
  const spread = points
    .map(
      ({ at, lower, upper }) =>
        `M${x(at).toFixed(1)} ${y(upper).toFixed(1)}V${y(lower).toFixed(1)}`,
    )
    .join('');
  const counted = points.filter(({ aside }) => !aside);
  const apart = points.filter(
    ({ aside, value }) => aside && beyond(value) === undefined,
  );
  const far = points.flatMap(({ at, value }) => {
    const away = beyond(value);
    return away === undefined ? [] : [arrow(x(at), y(value), away)];
  });
  return (
    <g>
      <path
        d={spread}
        stroke="var(--pl-series-0)"
        strokeOpacity={0.55}
        strokeWidth={r > 2 ? 2 : 1}
      />
      <path d={draw(counted, circle, r)} fill="var(--pl-series-0)" />
      <path d={draw(apart, circle, r + 3)} fill="var(--pl-surface)" />
      <path
        d={draw(apart, cross, r + 0.6)}
        stroke="var(--pl-unsure)"
        strokeWidth={2}
        fill="none"
      />
      <path d={far.join('')} fill="var(--pl-unsure)" />
    </g>
  );
}
