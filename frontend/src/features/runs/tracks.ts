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
  [/freq|clock_(mhz|hz)/, 'CPU frequency'],
  [/temp|celsius|thermal/, 'Temperature'],
  [/load/, 'Load'],
  [/psi|pressure/, 'Pressure (PSI)'],
  [/steal/, 'Steal'],
  [/mem|rss/, 'Memory'],
  [/battery/, 'Battery'],
];

function flatten(prefix: string, value: unknown, into: Map<string, number>): void {
  if (typeof value === 'number' && Number.isFinite(value)) into.set(prefix, value);
  else if (Array.isArray(value)) {
    const numbers = value.filter((entry): entry is number => typeof entry === 'number');
    if (numbers.length > 0) into.set(`${prefix} (max)`, Math.max(...numbers));
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value))
      flatten(prefix === '' ? name : `${prefix} ${name}`, inner, into);
  }
}

function formatter(key: string): (value: number) => string {
  if (/_khz/.test(key)) return (value) => `${formatNumber(value / 1e6)} GHz`;
  if (/_mhz/.test(key)) return (value) => `${formatNumber(value / 1e3)} GHz`;
  if (/_hz/.test(key)) return (value) => `${formatNumber(value / 1e9)} GHz`;
  if (/_bytes/.test(key)) return (value) => formatValue(value, 'bytes');
  if (/_ns/.test(key)) return (value) => formatValue(value, 'ns');
  if (/_percent|psi/.test(key)) return (value) => `${formatNumber(value)} %`;
  if (/_c\b|celsius|temp/.test(key)) return (value) => `${formatNumber(value)} °C`;
  return formatNumber;
}

function rank(key: string): number {
  const index = KNOWN.findIndex(([pattern]) => pattern.test(key));
  return index < 0 ? KNOWN.length : index;
}

function label(key: string): string {
  const known = KNOWN.find(([pattern]) => pattern.test(key))?.[1];
  const plain = key.replace(/_(khz|mhz|hz|bytes|percent|celsius|c|ns|ms)\b/g, '').replaceAll('_', ' ');
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
    const flat = new Map<string, number>();
    flatten('', values, flat);
    for (const [key, value] of flat) {
      const track = tracks.get(key) ?? { key, label: label(key), points: [], format: formatter(key) };
      track.points.push({ seconds: (at - start) / 1000, value });
      tracks.set(key, track);
    }
  }
  return shorten(
    [...tracks.values()].toSorted((a, b) => rank(a.key) - rank(b.key) || a.key.localeCompare(b.key)),
  );
}
