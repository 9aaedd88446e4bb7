/** Round axis ticks: 1, 2 or 5 times a power of ten, covering the data. Pure. */
export interface Ticks {
  domain: readonly [number, number];
  ticks: number[];
}

export function niceTicks(low: number, high: number, wanted = 5): Ticks {
  const span = high - low > 0 ? high - low : Math.abs(high) || 1;
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  // Multiplying indexes keeps 0.1 + 0.2 out of the labels.
  const ticks = Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
  return { domain: [ticks[0] ?? low, ticks.at(-1) ?? high], ticks };
}
