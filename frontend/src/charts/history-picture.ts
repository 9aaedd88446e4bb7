/** The data of a history chart: points over time, their levels, bands and marks. Times are in ms. */
export type Extent = readonly [from: number, to: number];

export interface HistoryPoint {
  key: string;
  at: number;
  value: number;
  lower: number;
  upper: number;
  /** True for excluded points, which are drawn but not counted. */
  aside: boolean;
}

export interface HistoryLevel {
  from: number;
  to: number;
  level: number;
  lower: number;
  upper: number;
}

/** A band between two values; null means the edge of the plot. */
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

/** The data to draw. A new object redraws the chart, so callers keep it while nothing changes. */
export interface HistoryPicture {
  points: readonly HistoryPoint[];
  levels: readonly HistoryLevel[];
  bands: readonly HistoryBand[];
  marks: readonly HistoryMark[];
  span: Extent;
  /** Formats a value; `step`, the distance to its neighbours, decides the number of digits. */
  format: (value: number, step: number) => string;
}
