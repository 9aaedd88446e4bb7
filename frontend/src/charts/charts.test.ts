import { dotFrame } from './dot-chart';
import { intervalAxes, chooseScale } from './interval-axes';
import { seriesLook } from './palette';
import { sparklinePath } from './sparkline';
import { logTicks, niceTicks } from './ticks';
import { pointsWithGaps, thinKeepingPeaks } from './track-chart';

describe('a line', () => {
  const points = [0, 10, 20, 100, 110].map((seconds) => ({
    seconds,
    value: seconds,
  }));

  it('ends where nothing was read any more and goes on with the next reading', () => {
    expect(pointsWithGaps(points, [{ after: 20, until: 100 }])).toEqual([
      ...points.slice(0, 3),
      { seconds: 20, value: null },
      ...points.slice(3),
    ]);
  });

  it('holds its value until the gap begins, also when thinning left out the last reading before it', () => {
    expect(
      pointsWithGaps(points, [{ after: 40, until: 90 }]).slice(2, 6),
    ).toEqual([
      { seconds: 20, value: 20 },
      { seconds: 40, value: 20 },
      { seconds: 40, value: null },
      { seconds: 100, value: 100 },
    ]);
  });

  it('is whole without gaps', () => {
    expect(pointsWithGaps(points, [])).toEqual(points);
  });
});

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

describe('a log axis', () => {
  it('is taken where values span decades, and never for a zero', () => {
    expect(chooseScale([1, 10, 10_000])).toBe('log');
    expect(chooseScale([1000, 2000, 5000])).toBe('linear');
    expect(chooseScale([0, 10_000])).toBe('linear');
  });

  it('has its ticks at 1, 2 and 5 of each decade, and at the decades alone where those are many', () => {
    expect(logTicks(0.21, 4.2).ticks).toEqual([0.2, 0.5, 1, 2, 5]);
    expect(logTicks(0.002, 900).ticks).toEqual([0.01, 0.1, 1, 10, 100, 1000]);
    expect(logTicks(0.002, 900).domain).toEqual([0.002, 1000]);
  });

  it('covers what it shows', () => {
    const { domain } = logTicks(0.1, 10);
    expect(domain).toEqual([0.1, 10]);
  });
});

const point = (x: number, value: number) => ({
  x,
  value,
  lower: value * 0.9,
  upper: value * 1.1,
});

describe('the axes of intervals', () => {
  const series = [{ name: 'a', points: [point(10, 0.2), point(1, 3)] }];

  it('mark the measured values only', () => {
    const { x, y } = intervalAxes({
      series,
      references: [],
      xScale: 'log',
      yScale: 'log',
    });
    expect(x?.ticks).toEqual([1, 10]);
    expect(y.scale).toBe('log');
    expect(y.domain[0]).toBeLessThanOrEqual(0.18);
    expect(y.domain[1]).toBeGreaterThanOrEqual(3.3);
  });

  it('stand even when nothing is drawn', () => {
    expect(
      intervalAxes({ series: [], references: [], xScale: 'linear' }).y.ticks
        .length,
    ).toBeGreaterThan(1);
  });
});

describe('a dot chart', () => {
  it('places values between its ends, in proportion or by decades', () => {
    const linear = dotFrame([0.5, 1.2]);
    expect(linear.log).toBe(false);
    expect(linear.place(0)).toBe(0);
    const log = dotFrame([0.01, 1]);
    expect(log.log).toBe(true);
    expect(log.place(0.1)).toBeCloseTo(50);
  });
});

describe('the looks of series', () => {
  it('differ for as many arms as a benchmark may have', () => {
    const looks = Array.from({ length: 64 }, (_, index) =>
      JSON.stringify(seriesLook(index)),
    );
    expect(new Set(looks).size).toBe(64);
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
    expect(sparklinePath([3, 3, 3], 100, 20)).toBe(
      'M0.0 18.0 L50.0 18.0 L100.0 18.0',
    );
  });
});
