/**
 * Converts conditions to tracks over time. Conditions are numbers, or objects of numbers, with the unit in their
 * name. Known quantities come first; unknown ones are shown too.
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

/** Matches a cluster of a phone's cores, such as `cpu4-7`. A phone has two to four, with different kinds of cores. */
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

/**
 * Reduces the cores or sensors of a quantity to their maximum, so that they are one track instead of sixty-four.
 * Each cluster keeps its own track.
 */
function flatten(values: Conditions['values']): Map<string, number> {
  const flat = new Map<string, number>();
  for (const [name, value] of Object.entries(values)) {
    const parts = clusters(value);
    if (parts !== undefined) {
      for (const [cluster, number] of parts)
        flat.set(`${name}.${cluster}`, number);
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

/** Returns the names that any reading lists under `key`, without duplicates. */
export function listedNames(
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

/** Returns whether the readings are from a device, because only those have a configuration. */
export function isDevice(conditions: readonly Conditions[]): boolean {
  return conditions.some(({ values }) => 'configuration' in values);
}
