/** Defines the data of an interval chart: series of values with intervals, reference lines and marks. */
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
  /** Index of the colour, dash and marker; by default, the index of the series. */
  look?: number;
  points: readonly IntervalPoint[];
}

export interface ReferenceMark {
  y: number;
  label: string;
  /** Side of the label: two lines close together need different sides. */
  side: 'above' | 'below';
  dash?: string;
}

/** A labelled vertical line at an x. It has the colour of the series with this look, or of text without one. */
export interface VerticalMark {
  x: string | number;
  label: string;
  look: number | undefined;
}
export interface IntervalChartProps {
  series: readonly IntervalSeries[];
  references: readonly ReferenceMark[];
  marks?: readonly VerticalMark[];
  /** A horizontal band, such as the values that count as equal. */
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
