/** Series looks: colour, dash and marker together, so that two series differ without colour. */
export interface SeriesLook {
  color: string;
  dash: string;
}

const DASHES = ['0', '7 4', '2 3', '10 3 2 3', '4 2', '12 4'] as const;

export function seriesLook(index: number): SeriesLook {
  const slot = index % DASHES.length;
  return { color: `var(--pl-series-${slot})`, dash: DASHES[slot] ?? '0' };
}

export const AXIS = { fill: 'var(--pl-muted)', fontSize: 12 } as const;
export const GRID = 'var(--pl-grid)';
/** Above this many points a chart draws no dots (measured: Recharts spends its time on them). */
export const MAX_DOTS = 150;
