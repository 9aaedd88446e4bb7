import { moveWindow } from './history-controls';
import {
  extentOf,
  instantAt,
  isOutsideAxis,
  findNearestPoint,
  placeLabels,
  xOf,
  chooseValueAxis,
} from './history-frame';
import type { HistoryMark, HistoryPoint } from './history-picture';
import { timeTicks } from './time-ticks';

const DAY = 86_400_000;
const MIDNIGHT = new Date(2026, 4, 4).getTime();

function point(
  value: number,
  change: Partial<HistoryPoint> = {},
): HistoryPoint {
  return {
    key: `p${value}`,
    at: 0,
    value,
    lower: value,
    upper: value,
    aside: false,
    ...change,
  };
}

describe('the value axis of a history', () => {
  it('holds counted points, levels and what is said of them', () => {
    const levels = [{ from: 0, to: 1, level: 100, lower: 98, upper: 102 }];
    const bands = [
      { kind: 'limit' as const, from: 0, to: null, low: 106, high: null },
    ];
    const { domain } = chooseValueAxis({
      points: [point(99), point(108)],
      levels,
      bands,
    });
    expect(domain[0]).toBeLessThanOrEqual(98);
    expect(domain[1]).toBeGreaterThanOrEqual(108);
  });

  it('is not stretched by a far point that excluded, nor by a wide interval', () => {
    const far = point(10_000, { aside: true });
    const wide = point(101, { lower: -5000, upper: 5000 });
    const axis = chooseValueAxis({
      points: [point(99), wide, point(103), far],
      levels: [],
      bands: [],
    });
    expect(axis.domain[0]).toBeGreaterThanOrEqual(90);
    expect(axis.domain[1]).toBeLessThanOrEqual(110);
    expect([far, wide].map((value) => isOutsideAxis(value, axis))).toEqual([
      true,
      false,
    ]);
  });

  it('exists for a constant and for nothing', () => {
    expect(
      chooseValueAxis({ points: [point(5)], levels: [], bands: [] }).ticks
        .length,
    ).toBeGreaterThan(1);
    expect(
      chooseValueAxis({ points: [], levels: [], bands: [] }).ticks.length,
    ).toBeGreaterThan(1);
  });
});

describe('a pointer over a history', () => {
  const extent = extentOf([0, 1000]);

  it('stands at the time it is drawn over, and outside the plot at its nearer end', () => {
    expect(instantAt(xOf(400, 800, extent), 800, extent)).toBeCloseTo(400);
    expect(instantAt(0, 800, extent)).toBe(extent[0]);
    expect(instantAt(800, 800, extent)).toBe(extent[1]);
  });

  it('is findNearestPoint to one point, before or behind it', () => {
    const points = [0, 100, 900].map((at) => ({ at }));
    expect(findNearestPoint(points, 480)?.at).toBe(100);
    expect(findNearestPoint(points, 520)?.at).toBe(900);
    expect(findNearestPoint([], 5)).toBeUndefined();
  });
});

const mark = (at: number, label: string): HistoryMark => ({
  key: `${at}`,
  at,
  label,
  tone: 'bad',
});

describe('the words above a history', () => {
  it('stand in a row of their own where they would run into each other', () => {
    const placed = placeLabels(
      [mark(400, 'A 14.2 % slower'), mark(420, 'kernel 6.1 → 6.2')],
      800,
      [0, 1000],
    );
    expect(new Set(placed.map(({ row }) => row))).toEqual(new Set([0, 1]));
  });

  it('share a row where there is room, and turn round at the right edge', () => {
    const placed = placeLabels(
      [mark(50, 'A 3 % slower'), mark(990, 'B 3 % faster')],
      800,
      [0, 1000],
    );
    expect(placed.map(({ row }) => row)).toEqual([0, 0]);
    expect(placed.find(({ mark: { at } }) => at === 990)?.left).toBe(true);
  });

  it('are never crossed by the line of a mark to the right of it', () => {
    const marks = [100, 140, 180, 220].map((at) =>
      mark(at, 'twenty letters of it'),
    );
    const placed = placeLabels(marks, 800, [0, 1000]);
    for (const [index, label] of placed.entries()) {
      for (const right of placed.slice(0, index))
        expect(right.row).toBeLessThan(label.row);
    }
  });

  it('are left out rather than piled up, and cut short on a narrow screen', () => {
    const marks = Array.from({ length: 12 }, (_, at) =>
      mark(at, 'a label of some length that goes on'),
    );
    const placed = placeLabels(marks, 360, [0, 1000]);
    expect(placed.length).toBeLessThan(12);
    expect(
      placed.every(({ text }) => text.length <= 24 && text.endsWith('…')),
    ).toBe(true);
  });
});

describe('the window of a history', () => {
  const whole = [0, 1000] as const;

  it('halves around the chosen point and stays inside the whole', () => {
    expect(moveWindow(whole, whole, { scale: 0.5, middle: 600 })).toEqual([
      350, 850,
    ]);
    expect(moveWindow(whole, whole, { scale: 0.5, middle: 990 })).toEqual([
      500, 1000,
    ]);
  });

  it('moves by half of itself and stops at the ends', () => {
    expect(moveWindow([200, 400], whole, { shift: 0.5 })).toEqual([300, 500]);
    expect(moveWindow([850, 1000], whole, { shift: 0.5 })).toEqual([850, 1000]);
  });

  it('grows to the whole and no further', () => {
    expect(moveWindow([200, 900], whole, { scale: 2 })).toEqual([0, 1000]);
  });
});

describe('ticks of time', () => {
  it('stand at midnights over weeks and read as days', () => {
    const { ticks, format } = timeTicks(MIDNIGHT, MIDNIGHT + 40 * DAY);
    expect(ticks.length).toBeGreaterThan(2);
    expect(ticks.length).toBeLessThan(9);
    expect(ticks.every((tick) => new Date(tick).getHours() === 0)).toBe(true);
    expect(format(MIDNIGHT)).toBe('4 May');
  });

  it('stand at hours over a day, and say the day at midnight', () => {
    const { ticks, format } = timeTicks(
      MIDNIGHT - 6 * 3_600_000,
      MIDNIGHT + 6 * 3_600_000,
    );
    expect(ticks).toContain(MIDNIGHT);
    expect(format(MIDNIGHT)).toBe('4 May');
    expect(format(MIDNIGHT + 3 * 3_600_000)).toBe('03:00');
  });

  it('stand at minutes over a quarter of an hour', () => {
    const { ticks, format } = timeTicks(
      MIDNIGHT + 30_000,
      MIDNIGHT + 15 * 60_000,
    );
    expect(ticks.map(format)).toEqual(['00:05', '00:10', '00:15']);
  });

  it('stand at the first of months over years', () => {
    const { ticks, format } = timeTicks(MIDNIGHT, MIDNIGHT + 800 * DAY);
    expect(ticks.every((tick) => new Date(tick).getDate() === 1)).toBe(true);
    expect(format(new Date(2027, 0, 1).getTime())).toBe('Jan 2027');
  });
});
