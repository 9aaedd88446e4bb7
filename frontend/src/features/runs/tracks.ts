/**
 * Turns conditions — flat or nested values with units in their names — into tracks over time. Pure. The known
 * quantities come first, in this order; a number it does not know is still shown.
 */
import type { Conditions } from '../../api/types';
import { formatNumber, formatValue } from '../../lib/units';

export interface Track {
  key: string;
  label: string;
  points: { seconds: number; value: number }[];
  format: (value: number) => string;
}

const KNOWN: readonly (readonly [pattern: RegExp, label: string])[] = [
  [/freq(?!.*cap)/, 'CPU frequency'],
  [/temp|celsius|thermal_c/, 'Temperature'],
  [/^load_1m/, 'Load (1 min)'],
  [/^workload_wait/, 'Workload waited for a CPU'],
  [/(psi|pressure)_?cpu/, 'CPU pressure (PSI)'],
  [/^cpu_percent/, 'CPU use'],
  [/steal/, 'Stolen by the hypervisor'],
  [/(psi|pressure)_?mem/, 'Memory pressure (PSI)'],
  [/(psi|pressure)_?io/, 'I/O pressure (PSI)'],
  [/^memory_available/, 'Memory available'],
  [/battery_percent/, 'Battery'],
];

/** Cores and sensors of one quantity become their maximum: one track, not sixty-four. */
function flatten(values: Conditions['values']): Map<string, number> {
  const flat = new Map<string, number>();
  for (const [name, value] of Object.entries(values)) {
    const inner: unknown[] = typeof value === 'object' && value !== null ? Object.values(value) : [value];
    const numbers = inner.filter(
      (entry): entry is number => typeof entry === 'number' && Number.isFinite(entry),
    );
    if (numbers.length > 0)
      flat.set(
        name,
        numbers.reduce((a, b) => Math.max(a, b)),
      );
  }
  return flat;
}

function formatter(key: string): (value: number) => string {
  if (key.endsWith('_mhz')) return (value) => `${formatNumber(value / 1e3)} GHz`;
  if (key.endsWith('_bytes')) return (value) => formatValue(value, 'bytes');
  if (key.endsWith('_percent')) return (value) => `${formatNumber(value)} %`;
  if (key.endsWith('_c')) return (value) => `${formatNumber(value)} °C`;
  return formatNumber;
}

function rank(key: string): number {
  const index = KNOWN.findIndex(([pattern]) => pattern.test(key));
  return index < 0 ? KNOWN.length : index;
}

function label(key: string): string {
  const known = KNOWN.find(([pattern]) => pattern.test(key))?.[1];
  const plain = key.replace(/_(mhz|bytes|percent|c)$/, '').replaceAll('_', ' ');
  return known === undefined ? plain : `${known} · ${plain}`;
}

/** The known quantity's name alone, where only one track has it. */
function shorten(tracks: readonly Track[]): Track[] {
  const heads = tracks.map(({ label: full }) => full.split(' · ')[0] ?? full);
  return tracks.map((track, index) => {
    const head = heads[index] ?? track.label;
    return heads.filter((other) => other === head).length === 1 ? { ...track, label: head } : track;
  });
}

export function toTracks(conditions: readonly Conditions[]): Track[] {
  const start = conditions[0]?.at_ms ?? 0;
  const tracks = new Map<string, Track>();
  for (const { at_ms: at, values } of conditions) {
    for (const [key, value] of flatten(values)) {
      const track = tracks.get(key) ?? { key, label: label(key), points: [], format: formatter(key) };
      track.points.push({ seconds: (at - start) / 1000, value });
      tracks.set(key, track);
    }
  }
  return shorten(
    [...tracks.values()].toSorted((a, b) => rank(a.key) - rank(b.key) || a.key.localeCompare(b.key)),
  );
}
