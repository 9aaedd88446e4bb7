/**
 * The geometry of a history chart: the range of its axes, the point under a pointer, the places of labels.
 *
 * One outlier never flattens all other points: points outside the range are drawn at the edge.
 */
import type {
  Extent,
  HistoryMark,
  HistoryPicture,
  HistoryPoint,
} from './history-picture';
import { niceTicks, type Ticks } from './ticks';

/** Between the chart's edges and its plot, px. Tracks below use the same, so that times line up. */
export const PLOT_LEFT = 72;
export const PLOT_RIGHT = 12;
/** Below the plot: its axis, and what is left free, px. */
export const AXIS_HEIGHT = 30;
export const FOOT_HEIGHT = 4;
const PLOT_HEIGHT = 276;
/** Room above the plot and its labels, px. */
const HEAD_HEIGHT = 10;
/** Height of a row of labels above the plot, px. */
export const LABEL_ROW = 16;
/** Room either side of the first and the last point, share of the span. */
const EDGE_SHARE = 0.02;
/** Half a day on each side of a single point. */
const MIN_SPAN_MS = 43_200_000;

export function extentOf([from, to]: Extent): Extent {
  const edge = to > from ? (to - from) * EDGE_SHARE : MIN_SPAN_MS;
  return [from - edge, to + edge];
}

type PictureValues = Pick<HistoryPicture, 'points' | 'levels' | 'bands'>;

/**
 * Round ticks that hold every counted value and every level; intervals, bands and points that do not count
 * widen it by at most the height of those on each side.
 */
export function valueAxis({ points, levels, bands }: PictureValues): Ticks {
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

/** Whether a point lies outside what the axis shows. */
export function isFar({ value }: HistoryPoint, { domain }: Ticks): boolean {
  return value < domain[0] || value > domain[1];
}

/** The point whose time is nearest to `at`; of several at one time the first. */
export function nearest<T extends { at: number }>(
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

/** The instant under a pointer `x` px from the chart's left edge; outside the plot its nearer end. */
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

/** Rows of labels above the plot. A mark without room keeps its line; its label is in the table. */
const MAX_ROWS = 4;
/** Width of a letter at the size of labels, px; measured over lower-case text, a little generous. */
const LETTER_PX = 6.6;
/** Below this width labels are cut shorter, px. */
const NARROW_PX = 560;
const GAP_PX = 8;

type Box = readonly [from: number, to: number];

export interface PlacedLabel {
  mark: HistoryMark;
  text: string;
  /** Whether the label is left of its line, where there is more room. */
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

/** Where everything of a picture stands, in a chart of this width. */
export interface Layout {
  width: number;
  extent: Extent;
  axis: Ticks;
  labels: PlacedLabel[];
  /** Height above the plot, and of the whole chart, px. */
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
  return { width, extent, axis: valueAxis(picture), labels, top, tall };
}

/** A point's place in the chart, kept inside the plot, px. */
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
