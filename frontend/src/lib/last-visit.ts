/**
 * Remembers when this browser last showed a page. Views less than half an hour apart are one visit, so that a
 * reload does not hide what was new at its beginning.
 */
const ONE_VISIT_MS = 30 * 60 * 1000;

interface Visits {
  /** Instant of the last view of the previous visit. */
  before: string | null;
  /** Instant of the last view of this visit. */
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

/** Records a view at `now` and returns when the previous visit ended, if there was one. */
export function recordVisit(page: string, now: number): string | undefined {
  const key = `paceline.visit.${page}`;
  const last = readVisits(key);
  const seen = new Date(now).toISOString();
  const isNew =
    last !== undefined && now - Date.parse(last.seen) > ONE_VISIT_MS;
  const before = isNew ? last.seen : (last?.before ?? null);
  try {
    window.localStorage.setItem(key, JSON.stringify({ before, seen }));
  } catch {
    // A browser without storage has no previous visit.
  }
  return before ?? undefined;
}
