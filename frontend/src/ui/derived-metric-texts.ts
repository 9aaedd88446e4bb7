/**
 * Formats the figure of a derived row by its kind.
 *
 * Values are scaled to percent or rounded; the server words what they mean (I17).
 */
import type { Derived } from '../api/types';
import { formatParam } from '../lib/params';
import { formatNumber } from '../lib/units';

const percent = (share: number) => `${formatNumber(share * 100)} %`;

/** Returns a text such as `native and policy win from 10 fingerprints`. */
export function winsFromText(
  arms: readonly string[],
  value: number,
  unit: string | null,
): string {
  const names =
    arms.length < 2
      ? (arms[0] ?? '')
      : `${arms.slice(0, -1).join(', ')} and ${arms.at(-1)}`;
  const from = `${formatParam(value)}${unit === null ? '' : ` ${unit}`}`;
  return `${names} ${arms.length < 2 ? 'wins' : 'win'} from ${from}`;
}

/** Returns a crossover in words, also if there is none. */
export function crossoverText(
  { arm, base_arm: base, value }: Derived,
  unit: string | null,
): string {
  if (value !== null) return winsFromText([arm], value, unit);
  return `${arm}: no crossover${typeof base === 'string' ? ` with ${base}` : ''}`;
}

/** Kinds of derived rows whose value is a factor. */
const TIMES: ReadonlySet<string> = new Set([
  'speedup_between_arms',
  'ratio_across_param',
]);

function formatDerived({ kind, unit }: Derived, value: number): string {
  if (unit === 'share') return percent(value);
  if (unit === 'param') return formatParam(value);
  return TIMES.has(kind) ? `${formatNumber(value)}×` : formatNumber(value);
}

export function derivedValue(row: Derived): string {
  if (row.value !== null) return formatDerived(row, row.value);
  return row.answered ? 'none' : '–';
}

export function derivedInterval(row: Derived): string {
  if (row.lower === null || row.upper === null) return '–';
  return `${formatDerived(row, row.lower)} – ${formatDerived(row, row.upper)}`;
}
