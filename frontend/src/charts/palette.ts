/**
 * The looks of series: colour, dash and marker, so that series also differ without colour.
 *
 * The first 144 looks differ. A look depends on the index alone, so hiding a series changes no other.
 */
export type Marker =
  'circle' | 'square' | 'diamond' | 'triangle' | 'triangle-down' | 'cross';

export interface SeriesLook {
  color: string;
  dash: string;
  marker: Marker;
}

const COLORS = 8;
const DASHES = ['0', '7 4', '2 3', '10 3 2 3', '4 2', '12 4'] as const;
/** Looks until the pair of colour and dash repeats: the least common multiple of their numbers. */
const COLOR_AND_DASH = 24;
const MARKERS = [
  'circle',
  'square',
  'diamond',
  'triangle',
  'triangle-down',
  'cross',
] as const;

export function seriesLook(index: number): SeriesLook {
  const shape = index % DASHES.length;
  return {
    color: `var(--pl-series-${index % COLORS})`,
    dash: DASHES[shape] ?? '0',
    marker:
      MARKERS[(shape + Math.floor(index / COLOR_AND_DASH)) % MARKERS.length] ??
      'circle',
  };
}

/** Outlines of the markers around (0, 0), about 8 units wide. */
export const MARKER_PATHS: Readonly<Record<Marker, string>> = {
  circle: 'M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z',
  square: 'M-3.2 -3.2h6.4v6.4h-6.4z',
  diamond: 'M0 -4.5L4.5 0L0 4.5L-4.5 0z',
  triangle: 'M0 -4.2L4.2 3.4H-4.2z',
  'triangle-down': 'M0 4.2L4.2 -3.4H-4.2z',
  cross: 'M-1.3 -4h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7v-2.6h2.7z',
};

export const AXIS = { fill: 'var(--pl-muted)', fontSize: 12 } as const;
export const GRID = 'var(--pl-grid)';
/** A chart with more points draws no dots, because dots take most of the time of Recharts (measured). */
export const MAX_DOTS = 150;
