/**
 * Computes the geometry of a history chart: its axes, the point under a pointer, and the places of labels.
 *
 * Outliers do not flatten the other points: points outside the range are drawn at the edge.
 */
import type {
  Extent,
  HistoryMark,
  HistoryPicture,
  HistoryPoint,
} from './history-picture';
import { niceTicks, type Ticks } from './ticks';

/** Margins of the plot, px. Tracks below use the same, so that times line up. */
export const PLOT_LEFT = 72;
export const PLOT_RIGHT = 12;
/** Heights of the axis and of the margin below the plot, px. */
export const AXIS_HEIGHT = 30;
export const FOOT_HEIGHT = 4;
const PLOT_HEIGHT = 276;
/** Height of the margin above the labels, px. */
const HEAD_HEIGHT = 10;
/** Height of a row of labels above the plot, px. */
export const LABEL_ROW = 16;
/** Margin before the first and after the last point, as a share of the span. */
const EDGE_SHARE = 0.02;
/** The shortest span: half a day on each side of a single point. */
const MIN_SPAN_MS = 43_200_000;

export function extentOf([from, to]: Extent): Extent {
  const edge = to > from ? (to - from) * EDGE_SHARE : MIN_SPAN_MS;
  return [from - edge, to + edge];
}

type PictureValues = Pick<HistoryPicture, 'points' | 'levels' | 'bands'>;

/**
 * Returns round ticks that contain every counted value and every level; intervals, bands and excluded points
 * widen the axis on each side by at most that range.
 */
export function chooseValueAxis({
  points,
  levels,
  bands,
}: PictureValues): Ticks {
  const counted = points.filter(({ aside }) => !aside);
  const firm = [
    ...(counted.length > 0 ? counted : points).map(({ value }) => value),
    ...levels.map(({ level }) => level),
  ];
  if (firm.length === 0) return niceTicks(0, 1);
  const [low, high] = [Math.min(...firm), Math.max(...firm)];
  const span = high - low || Math.abs(high) * 0.02 || 1;
  const loose = [
    ...points.flatMap(({ value, lower, upper }) => [value, lower, upper]),
    ...levels.flatMap(({ lower, upper }) => [lower, upper]),
    ...bands
      .flatMap(({ low: from, high: to }) => [from, to])
      .filter((edge) => edge !== null),
  ].map((value) => Math.min(high + span, Math.max(low - span, value)));
  return niceTicks(Math.min(low, ...loose), Math.max(high, ...loose));
}

/** Returns whether a point is outside the axis. */
export function isOutsideAxis(
  { value }: HistoryPoint,
  { domain }: Ticks,
): boolean {
  return value < domain[0] || value > domain[1];
}

/** Returns the point whose time is nearest to `at`; of several at one time, the first. */
export function findNearestPoint<T extends { at: number }>(
  points: readonly T[],
  at: number,
): T | undefined {
  let best: T | undefined;
  for (const point of points) {
    if (best === undefined || Math.abs(point.at - at) < Math.abs(best.at - at))
      best = point;
  }
  return best;
}

/** Returns the instant at `x` px from the chart's left edge; outside the plot, its nearer end. */
export function instantAt(
  x: number,
  width: number,
  [from, to]: Extent,
): number {
  const share = (x - PLOT_LEFT) / Math.max(1, width - PLOT_LEFT - PLOT_RIGHT);
  return from + Math.min(1, Math.max(0, share)) * (to - from);
}

export function xOf(at: number, width: number, [from, to]: Extent): number {
  return (
    PLOT_LEFT + ((at - from) / (to - from)) * (width - PLOT_LEFT - PLOT_RIGHT)
  );
}

/** Rows of labels above the plot. A mark without room for its label keeps its line; the table has the label. */
const MAX_ROWS = 4;
/** Width of a letter of a label, px; measured with lower-case text and rounded up. */
const LETTER_PX = 6.6;
/** Narrower charts have shorter labels, px. */
const NARROW_PX = 560;
const GAP_PX = 8;

type Box = readonly [from: number, to: number];

export interface PlacedLabel {
  mark: HistoryMark;
  text: string;
  /** True if the label is left of its line, where there is more room. */
  left: boolean;
  row: number;
}

/** Places labels from right to left, so that no line crosses the label of an earlier mark. */
export function placeLabels(
  marks: readonly HistoryMark[],
  width: number,
  extent: Extent,
): PlacedLabel[] {
  const most = width < NARROW_PX ? 24 : 44;
  const taken: { box: Box; row: number }[] = [];
  const placed: PlacedLabel[] = [];
  for (const mark of marks.toSorted((a, b) => b.at - a.at)) {
    const text =
      mark.label.length > most
        ? `${mark.label.slice(0, most - 1)}…`
        : mark.label;
    const [x, wide] = [xOf(mark.at, width, extent), text.length * LETTER_PX];
    const left = x + wide > width - PLOT_RIGHT;
    const box: Box = left ? [x - wide - GAP_PX, x] : [x, x + wide + GAP_PX];
    const below = taken.filter(
      (other) => box[0] < other.box[1] && box[1] > other.box[0],
    );
    const row = below.reduce(
      (highest, other) => Math.max(highest, other.row + 1),
      0,
    );
    if (row < MAX_ROWS) {
      taken.push({ box, row });
      placed.push({ mark, text, left, row });
    }
  }
  return placed;
}

/** The places of the parts of a picture in a chart of this width. */
export interface Layout {
  width: number;
  extent: Extent;
  axis: Ticks;
  labels: PlacedLabel[];
  /** Heights of the area above the plot and of the whole chart, px. */
  top: number;
  tall: number;
}

export function layoutOf(picture: HistoryPicture, width: number): Layout {
  const extent = extentOf(picture.span);
  const labels = placeLabels(picture.marks, width, extent);
  const top =
    HEAD_HEIGHT +
    labels.reduce((most, { row }) => Math.max(most, row + 1), 0) * LABEL_ROW;
  const tall = top + PLOT_HEIGHT + AXIS_HEIGHT + FOOT_HEIGHT;
  return { width, extent, axis: chooseValueAxis(picture), labels, top, tall };
}

/** Returns a point's place in the chart, within the plot, px. */
export function pointPosition(
  { width, extent, axis: { domain }, top }: Layout,
  { at, value }: HistoryPoint,
) {
  const share = (value - domain[0]) / (domain[1] - domain[0]);
  return {
    x: xOf(at, width, extent),
    y: top + (1 - Math.min(1, Math.max(0, share))) * PLOT_HEIGHT,
  };
}
