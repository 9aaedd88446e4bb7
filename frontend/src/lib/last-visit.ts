/**
 * Remembers when this browser looked at a page before. Looks less than half an hour apart are one visit, so that a
 * reload does not hide what the visit began with.
 */
const ONE_VISIT_MS = 30 * 60 * 1000;

interface Visits {
  /** The last look of the visit before this one. */
  before: string | null;
  /** The last look of this visit. */
  seen: string;
}

function readVisits(key: string): Visits | undefined {
  try {
    const value: unknown = JSON.parse(window.localStorage.getItem(key) ?? '');
    const { before, seen } = value as Visits;
    const areInstants = [before, seen].every(
      (instant) => instant === null || !Number.isNaN(Date.parse(instant)),
    );
    return areInstants && typeof seen === 'string'
      ? { before, seen }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Notes a look at `now` and returns when the visit before this one ended, if there was one. */
export function noteVisit(page: string, now: number): string | undefined {
  const key = `paceline.visit.${page}`;
  const last = readVisits(key);
  const seen = new Date(now).toISOString();
  const isNew =
    last !== undefined && now - Date.parse(last.seen) > ONE_VISIT_MS;
  const before = isNew ? last.seen : (last?.before ?? null);
  try {
    window.localStorage.setItem(key, JSON.stringify({ before, seen }));
  } catch {
    // A browser that keeps nothing has no last visit.
  }
  return before ?? undefined;
}
