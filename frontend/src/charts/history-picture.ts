/** What a history chart draws: points over time, their levels, bands and marks. Times are in ms. */
export type Extent = readonly [from: number, to: number];

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

/** What is drawn. Drawn anew only when it is another object: keep it as long as nothing in it changes. */
export interface HistoryPicture {
  points: readonly HistoryPoint[];
  levels: readonly HistoryLevel[];
  bands: readonly HistoryBand[];
  marks: readonly HistoryMark[];
  span: Extent;
  /** `step`: how far the values it stands among lie apart. */
  format: (value: number, step: number) => string;
}
