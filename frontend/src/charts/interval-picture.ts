/** The data of an interval chart: series of values with intervals, reference lines and marks. */
export type Scale = 'linear' | 'log';

export interface IntervalPoint {
  /** A category, or a number on a numeric axis. */
  x: string | number;
  value: number | null;
  lower: number | null;
  upper: number | null;
}

export interface IntervalSeries {
  name: string;
  /** Index of its look; its place among the series when absent. */
  look?: number;
  points: readonly IntervalPoint[];
}

export interface ReferenceMark {
  y: number;
  label: string;
  /** Where the label stands: two lines close together need one each. */
  side: 'above' | 'below';
  dash?: string;
}

/** A labelled vertical mark on the x axis, in the look of its series or, of several, in that of text. */
export interface VerticalMark {
  x: string | number;
  label: string;
  look: number | undefined;
}
export interface IntervalChartProps {
  series: readonly IntervalSeries[];
  references: readonly ReferenceMark[];
  marks?: readonly VerticalMark[];
  /** A horizontal band, for instance what still counts as equal. */
  band?: readonly [from: number, to: number] | undefined;
  /** `category` draws points at equal distances in the order they come; the others need numbers. */
  xScale?: Scale | 'category';
  yScale?: Scale;
  xLabel: string;
  yLabel: string;
  format: (value: number) => string;
  formatX?: (value: number) => string;
  height?: number;
}
