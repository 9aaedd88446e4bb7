/**
 * Turns conditions — flat or nested values with units in their names — into tracks over time. Pure. The known
 * quantities come first, in this order; a number it does not know is still shown.
 */
import type { Conditions } from '../../api/types';
import {
  compareConditions,
  conditionFormat,
  conditionLabels,
} from '../../lib/conditions';

export interface Track {
  key: string;
  label: string;
  points: { seconds: number; value: number }[];
  format: (value: number) => string;
}

/** `cpu4-7`: a cluster of a phone's cores; there are two to four of them, and they differ in kind. */
const CLUSTER = /^cpu\d[\d,-]*$/;

function clusters(value: unknown): [name: string, value: number][] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return undefined;
  const parts = Object.entries(value).filter(
    (part): part is [string, number] =>
      CLUSTER.test(part[0]) && typeof part[1] === 'number',
  );
  return parts.length > 0 && parts.length === Object.keys(value).length
    ? parts
    : undefined;
}

/** Cores and sensors of one quantity become their maximum: one track, not sixty-four. Clusters stay apart. */
function flatten(values: Conditions['values']): Map<string, number> {
  const flat = new Map<string, number>();
  for (const [name, value] of Object.entries(values)) {
    const parts = clusters(value);
    if (parts !== undefined) {
      for (const [part, own] of parts) flat.set(`${name}.${part}`, own);
      continue;
    }
    const inner: unknown[] =
      typeof value === 'object' && value !== null
        ? Object.values(value)
        : [value];
    const numbers = inner.filter(
      (entry): entry is number =>
        typeof entry === 'number' && Number.isFinite(entry),
    );
    if (numbers.length > 0)
      flat.set(
        name,
        numbers.reduce((a, b) => Math.max(a, b)),
      );
  }
  return flat;
}

export function tracksOf(conditions: readonly Conditions[]): Track[] {
  const start = conditions[0]?.at_ms ?? 0;
  const tracks = new Map<string, Track>();
  for (const { at_ms: at, values } of conditions) {
    for (const [key, value] of flatten(values)) {
      const track = tracks.get(key) ?? {
        key,
        label: key,
        points: [],
        format: conditionFormat(key),
      };
      track.points.push({ seconds: (at - start) / 1000, value });
      tracks.set(key, track);
    }
  }
  const sorted = [...tracks.values()].toSorted((a, b) =>
    compareConditions(a.key, b.key),
  );
  const labels = conditionLabels(sorted.map(({ key }) => key));
  return sorted.map((track, index) =>
    Object.assign(track, { label: labels[index] ?? track.key }),
  );
}

/** Names that a list of texts in any of the readings holds, each once: what was unknown, what was wrong. */
export function namesIn(
  conditions: readonly Conditions[],
  key: 'unknown' | 'configuration' | 'events',
): string[] {
  const all = conditions.flatMap(({ values }) => {
    const names: unknown = values[key];
    return Array.isArray(names)
      ? names.filter((name): name is string => typeof name === 'string')
      : [];
  });
  return [...new Set(all)];
}

/** Only a device says how it is set up, and keeps the texts it was read out of. */
export function isDevice(conditions: readonly Conditions[]): boolean {
  return conditions.some(({ values }) => 'configuration' in values);
}
