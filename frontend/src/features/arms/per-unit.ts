/** Converts measured values to values per iteration, per item or per byte. */
import type { Measurement } from '../../api/types';
import type { PER_UNITS } from './arms-search';

export type PerUnit = (typeof PER_UNITS)[number];

const FIELDS = { item: 'items', byte: 'bytes' } as const;

/** Returns the units that the values can be divided by: every measurement must say how much one iteration holds. */
export function perUnitsOf(rows: readonly Measurement[]): ('item' | 'byte')[] {
  return (['item', 'byte'] as const).filter(
    (per) =>
      rows.length > 0 && rows.every((row) => (row[FIELDS[per]] ?? 0) > 0),
  );
}

export function scaleOf(
  row: Measurement,
  per: PerUnit,
): (value: number) => number {
  const held = per === 'iteration' ? 1 : (row[FIELDS[per]] ?? 1);
  return (value) => value / held;
}
