import { chooseAxisCut, quantile } from './distribution-axis';

function arm(name: string, values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const points = sorted.map((value, index) => ({
    value,
    share: (index + 1) / sorted.length,
  }));
  return { arm: name, n: values.length, median: 0, points };
}

const STEADY = Array.from({ length: 99 }, (_, index) => 100 + (index % 10));

describe('the axis of a distribution', () => {
  it('shows everything when nothing lies far out', () => {
    expect(
      chooseAxisCut([arm('native', STEADY), arm('fallback', STEADY)]),
    ).toBeUndefined();
  });

  it('ends before far-out samples and says how many of which arm it leaves out', () => {
    const cut = chooseAxisCut([
      arm('native', STEADY),
      arm('fallback', [...STEADY, 9000]),
    ]);
    expect(cut?.until).toBeLessThan(200);
    expect(cut?.beyond).toEqual([
      { arm: 'fallback', share: expect.closeTo(0.01, 9) },
    ]);
  });

  it('reads quantiles from the steps', () => {
    expect(quantile(arm('native', [1, 2, 3, 4]), 0.5)).toBe(2);
  });
});
