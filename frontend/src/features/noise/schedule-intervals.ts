/** The intervals of schedules, in seconds and in words. */
import { formatDuration } from '../../lib/times';

/** Offered intervals, seconds. The server allows any from a minute to a year. */
export const INTERVALS = [
  { value: '21600', label: 'every 6 hours' },
  { value: '86400', label: 'every day' },
  { value: '604800', label: 'every week' },
] as const;

export function intervalText(seconds: number): string {
  const offered = INTERVALS.find(({ value }) => value === String(seconds));
  return offered?.label ?? `every ${formatDuration(seconds)}`;
}
