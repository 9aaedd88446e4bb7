/** The data of a history chart: points over time, their levels, bands and marks. Times are in ms. */
export type Extent = readonly [from: number, to: number];

export interface HistoryPoint {
  key: string;
  at: number;
  value: number;
  lower: number;
  upper: number;
  /** Excluded: shown, but not counted. */
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

/** What is drawn. Keep the object while nothing in it changes: a new object redraws the chart. */
export interface HistoryPicture {
  points: readonly HistoryPoint[];
  levels: readonly HistoryLevel[];
  bands: readonly HistoryBand[];
  marks: readonly HistoryMark[];
  span: Extent;
  /** `step`: the distance between neighbouring values, for the number of digits. */
  format: (value: number, step: number) => string;
}
