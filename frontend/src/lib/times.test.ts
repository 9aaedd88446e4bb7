import { formatAgo, formatDuration, secondsBetween } from './times';

const NOW = Date.parse('2026-01-10T12:00:00Z');

describe('formatting times', () => {
  it.each([
    [8, '8 s'],
    [200, '3 min 20 s'],
    [120, '2 min'],
    [3900, '1 h 05 min'],
    [90_000, '1 d 1 h'],
    [-3, '0 s'],
  ])('shows %d seconds as %s', (seconds, words) => {
    expect(formatDuration(seconds)).toBe(words);
  });

  it.each([
    ['2026-01-10T11:59:55Z', 'just now'],
    ['2026-01-10T11:56:00Z', '4 min ago'],
    ['2026-01-10T09:00:00Z', '3 h ago'],
    ['2025-12-01T09:00:00Z', '1 Dec 2025'],
  ])('shows %s as %s', (instant, words) => {
    expect(formatAgo(instant, NOW)).toBe(words);
  });

  it('measures what still runs against now', () => {
    expect(secondsBetween('2026-01-10T11:59:00Z', null, NOW)).toBe(60);
  });
});
