import { historyPoints, seriesPage } from '../../testing/fixtures-history';
import { drawnBands, pictureOf, unitAt } from './history-model';

const PAGE = seriesPage();
const PRESENT = PAGE.segments.at(-1);
const FROM = Date.parse(PRESENT?.start_at ?? '');
const WINDOW: [number, number] = [0, FROM + 1];
const NOISE = {
  kind: 'noise',
  from: FROM,
  to: null,
  low: PAGE.noise?.lower,
  high: PAGE.noise?.upper,
};

describe('the bands beside the present level', () => {
  it.each([
    ['lower', { low: PAGE.rule?.limit, high: null }],
    ['higher', { low: null, high: PAGE.rule?.limit }],
  ] as const)(
    'have the limit open towards worse where %s is better',
    (direction, sides) => {
      const page = { ...PAGE, series: { ...PAGE.series, direction } };
      expect(drawnBands(page, WINDOW)).toEqual([
        NOISE,
        { kind: 'limit', from: FROM, to: null, ...sides },
      ]);
    },
  );

  it('are those the server sent: no noise floor without both ends, no limit without a rule', () => {
    if (PAGE.noise === null || PAGE.rule === null)
      throw new Error('the fixture has both');
    const half = { ...PAGE.noise, upper: null };
    expect(
      drawnBands(
        { ...PAGE, noise: half, rule: { ...PAGE.rule, limit: null } },
        WINDOW,
      ),
    ).toEqual([]);
    expect(drawnBands({ ...PAGE, noise: null, rule: null }, WINDOW)).toEqual(
      [],
    );
    expect(drawnBands({ ...PAGE, rule: null }, WINDOW)).toEqual([NOISE]);
  });

  it('are not drawn in a window that ends before the present level, nor without a level', () => {
    expect(drawnBands(PAGE, [0, FROM - 1])).toEqual([]);
    expect(drawnBands({ ...PAGE, segments: [] }, WINDOW)).toEqual([]);
  });
});

describe('a series whose unit changed', () => {
  const page = {
    ...PAGE,
    environments: PAGE.environments.map((environment, index) =>
      Object.assign({}, environment, {
        unit: index === 0 ? ('bytes' as const) : ('ns' as const),
      }),
    ),
  };
  const points = historyPoints;
  const wholeTime: [number, number] = [0, Number.MAX_SAFE_INTEGER];

  it('draws what is in its present unit, and says of the rest what it was in', () => {
    const { points: drawn, levels } = pictureOf(page, points, wholeTime);
    const old = points.filter(({ environment }) => environment === 0);
    expect(old.length).toBeGreaterThan(0);
    expect(drawn).toHaveLength(points.length - old.length);
    expect(levels).toHaveLength(
      page.segments.filter(({ environment }) => environment > 0).length,
    );
    expect([0, 1, 9].map((index) => unitAt(page, index))).toEqual([
      'bytes',
      'ns',
      'ns',
    ]);
  });
});
