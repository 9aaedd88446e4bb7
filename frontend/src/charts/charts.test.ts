import { sparklinePath } from './sparkline';
import { niceTicks } from './ticks';
import { thinKeepingPeaks } from './track-chart';

describe('ticks', () => {
  it('are round and cover the data', () => {
    const { ticks, domain } = niceTicks(0.571, 1.02);
    expect(ticks).toEqual([0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1]);
    expect(domain).toEqual([0.5, 1.1]);
  });

  it('exist for data without extent', () => {
    expect(niceTicks(5, 5).ticks.length).toBeGreaterThan(1);
    expect(niceTicks(0, 0).ticks.length).toBeGreaterThan(1);
  });
});

describe('thinning a track', () => {
  it('draws at most the limit and never hides a peak', () => {
    const points = Array.from({ length: 4000 }, (_, seconds) => ({
      seconds,
      value: seconds === 1717 ? 99 : 1,
    }));
    const thinned = thinKeepingPeaks(points, 150);
    expect(thinned.length).toBeLessThanOrEqual(150);
    expect(thinned).toContainEqual({ seconds: 1717, value: 99 });
  });
});

describe('a sparkline', () => {
  it('draws constants as a line inside its box', () => {
    expect(sparklinePath([3, 3, 3], 100, 20)).toBe('M0.0 18.0 L50.0 18.0 L100.0 18.0');
  });
});
