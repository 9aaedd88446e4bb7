import { recordVisit } from './last-visit';

const HOUR = 3_600_000;
const NOON = Date.parse('2026-11-28T12:00:00Z');

describe('the last visit', () => {
  it('is the end of the visit before, however often this one looks', () => {
    expect(recordVisit('p', NOON)).toBeUndefined();
    expect(recordVisit('p', NOON + HOUR / 4)).toBeUndefined();
    const end = '2026-11-28T12:15:00.000Z';
    expect(recordVisit('p', NOON + 20 * HOUR)).toBe(end);
    expect(recordVisit('p', NOON + 20.2 * HOUR)).toBe(end);
    expect(recordVisit('other', NOON)).toBeUndefined();
  });

  it('is unknown when what was kept cannot be read', () => {
    window.localStorage.setItem('paceline.visit.p', '{"seen":"never"}');
    expect(recordVisit('p', NOON)).toBeUndefined();
  });
});
