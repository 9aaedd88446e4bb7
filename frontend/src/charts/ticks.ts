/** Computes round ticks that cover the data, 1, 2 or 5 times a power of ten, for linear and log axes. */
export interface Ticks {
  domain: readonly [number, number];
  ticks: number[];
}

/**
 * Ratio of the largest to the smallest value from which an axis is logarithmic; below, a linear one is easier to
 * read.
 */
const DECADES_NEED_LOG = 10;
/** Ticks of a log axis above which only the powers of ten are kept. */
const MANY_TICKS = 8;

/** Returns whether positive data span so much that a linear axis would crowd most of them near zero. */
export function spansDecades(low: number, high: number): boolean {
  return low > 0 && high / low >= DECADES_NEED_LOG;
}

export function niceTicks(low: number, high: number, wanted = 5): Ticks {
  const span = high - low > 0 ? high - low : Math.abs(high) || 1;
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  // Multiplying indexes avoids the rounding errors of repeated addition.
  const ticks = Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
  return { domain: [ticks[0] ?? low, ticks.at(-1) ?? high], ticks };
}

/** Returns ticks for positive data: 1, 2 and 5 per decade, or only powers of ten if those are too many. */
export function logTicks(low: number, high: number): Ticks {
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high) + 1e-9);
  const fine = Array.from({ length: to - from + 1 }, (_, decade) =>
    [1, 2, 5].map((factor) =>
      Number((factor * 10 ** (from + decade)).toPrecision(12)),
    ),
  ).flat();
  const below = fine.findLast((tick) => tick <= low * (1 + 1e-9)) ?? low;
  const above = fine.find((tick) => tick >= high * (1 - 1e-9)) ?? high;
  const kept = fine.filter((tick) => tick >= below && tick <= above);
  const tens = kept.filter((tick) =>
    Number.isInteger(Math.round(Math.log10(tick) * 1e9) / 1e9),
  );
  return {
    domain: [below, above],
    ticks: kept.length > MANY_TICKS && tens.length > 1 ? tens : kept,
  };
}
