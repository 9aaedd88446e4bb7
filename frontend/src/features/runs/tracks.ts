/**
 * Turns conditions — flat or nested values with units in their names — into tracks over time. Pure. The known
 * quantities come first, in this order; a number it does not know is still shown.
 */
import type { Conditions } from '../../api/types';
import { compareConditions, conditionFormat, conditionLabels } from '../../lib/conditions';

export interface Track {
  key: string;
  label: string;
  points: { seconds: number; value: number }[];
  format: (value: number) => string;
}

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

export function toTracks(conditions: readonly Conditions[]): Track[] {
  const start = conditions[0]?.at_ms ?? 0;
  const tracks = new Map<string, Track>();
  for (const { at_ms: at, values } of conditions) {
    for (const [key, value] of flatten(values)) {
      const track = tracks.get(key) ?? { key, label: key, points: [], format: conditionFormat(key) };
      track.points.push({ seconds: (at - start) / 1000, value });
      tracks.set(key, track);
    }
  }
  const sorted = [...tracks.values()].toSorted((a, b) => compareConditions(a.key, b.key));
  const labels = conditionLabels(sorted.map(({ key }) => key));
  return sorted.map((track, index) => Object.assign(track, { label: labels[index] ?? track.key }));
}
