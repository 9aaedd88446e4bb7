/** Formats instants and durations; `now` is always a parameter, so that tests control the clock. */

const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;

/** Formats a duration, e.g. "8 s", "3 min 20 s", "1 h 05 min", "2 d 3 h". */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE_S) return `${whole} s`;
  if (whole < HOUR_S) {
    const rest = whole % MINUTE_S;
    return rest === 0
      ? `${Math.floor(whole / MINUTE_S)} min`
      : `${Math.floor(whole / MINUTE_S)} min ${rest} s`;
  }
  if (whole < DAY_S) {
    const minutes = Math.floor((whole % HOUR_S) / MINUTE_S);
    return `${Math.floor(whole / HOUR_S)} h ${String(minutes).padStart(2, '0')} min`;
  }
  return `${Math.floor(whole / DAY_S)} d ${Math.floor((whole % DAY_S) / HOUR_S)} h`;
}

/** Formats an instant as "just now", "4 min ago" or "3 h ago"; older ones as a date. */
export function formatAgo(instant: string, now: number): string {
  const seconds = (now - Date.parse(instant)) / 1000;
  if (seconds < 10) return 'just now';
  if (seconds < MINUTE_S) return `${Math.floor(seconds)} s ago`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min ago`;
  if (seconds < DAY_S) return `${Math.floor(seconds / HOUR_S)} h ago`;
  if (seconds < 14 * DAY_S) return `${Math.floor(seconds / DAY_S)} d ago`;
  return formatDate(instant);
}

/** Returns the instant at which the day before `now` began, in the visitor's time zone. */
export function startOfYesterday(now: number): string {
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - 1);
  return day.toISOString();
}

export function formatDate(instant: string): string {
  return new Date(instant).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
}

/** Returns the full local date and time, for titles of relative times. */
export function formatDateTime(instant: string): string {
  return new Date(instant).toLocaleString('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
  });
}

/** Returns the seconds between two instants; if `until` is null, until `now`. */
export function secondsBetween(
  from: string,
  until: string | null,
  now: number,
): number {
  return ((until === null ? now : Date.parse(until)) - Date.parse(from)) / 1000;
}
