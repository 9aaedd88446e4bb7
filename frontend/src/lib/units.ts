/**
 * Formats measured values.
 *
 * Numbers are scaled and rounded, never compared or combined: the server words every ratio and verdict (I17).
 */
export type Unit = 'ns' | 'bytes' | 'ops' | 'op/s' | 'bytes/s' | 'count';

type Scale = readonly (readonly [factor: number, suffix: string])[];

const TIME: Scale = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];
const BYTES: Scale = [
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
  [2 ** 10, 'KiB'],
  [1, 'B'],
];
const DECIMAL: Scale = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
  [1, ''],
];

function scaled(value: number, scale: Scale): readonly [number, string] {
  const magnitude = Math.abs(value);
  for (const [factor, suffix] of scale) {
    if (magnitude >= factor) return [value / factor, suffix];
  }
  const [factor, suffix] = scale.at(-1) ?? [1, ''];
  return [value / factor, suffix];
}

/** Formats a number with three significant digits and separated thousands; never rounds a non-zero value to 0. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const magnitude = Math.abs(value);
  const digits = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2;
  if (magnitude !== 0 && magnitude < 0.01) return value.toPrecision(2);
  return value.toLocaleString('en-GB', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** Formats integers in full and other numbers with `formatNumber`, for figures whose unit is shown elsewhere. */
export function formatFigure(value: number): string {
  return Number.isInteger(value) ? formatInteger(value) : formatNumber(value);
}

export function formatInteger(value: number): string {
  return Math.round(value).toLocaleString('en-GB');
}

/** Formats a value in the metric's base unit with a prefix, e.g. "12.3 µs", "1.50 MiB", "3.40 M op/s". */
export function formatValue(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return '–';
  if (unit === 'ns') return join(scaled(value, TIME));
  if (unit === 'bytes') return join(scaled(value, BYTES));
  if (unit === 'bytes/s') return `${join(scaled(value, BYTES))}/s`;
  if (unit === 'count' && Number.isInteger(value)) return formatInteger(value);
  const [number, prefix] = scaled(value, DECIMAL);
  const suffix =
    unit === 'op/s'
      ? `${prefix} op/s`
      : `${prefix} ${unit === 'ops' ? 'ops' : ''}`;
  return `${formatNumber(number)} ${suffix.trim()}`.trim();
}

/** The most fraction digits that are shown. */
const MAX_DIGITS = 6;

/** Formats a value with as many digits as distinguish it from values `step` away. */
export function formatToStep(value: number, unit: Unit, step: number): string {
  const scale =
    unit === 'ns' ? TIME : unit.startsWith('bytes') ? BYTES : DECIMAL;
  const magnitude = Math.abs(value);
  const [factor, prefix] = scale.find(([size]) => magnitude >= size) ??
    scale.at(-1) ?? [1, ''];
  const digits = Math.min(
    MAX_DIGITS,
    Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9)),
  );
  const number = (value / factor).toLocaleString('en-GB', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const rest =
    unit === 'bytes/s'
      ? '/s'
      : unit === 'op/s'
        ? ' op/s'
        : unit === 'ops'
          ? ' ops'
          : '';
  return `${number} ${prefix}${rest}`.trim();
}

function join([number, suffix]: readonly [number, string]): string {
  return `${formatNumber(number)} ${suffix}`;
}

/** Formats a ratio with three decimals, e.g. "0.412" or "1.026". */
export function formatRatio(ratio: number | null | undefined): string {
  return ratio === null || ratio === undefined ? '–' : ratio.toFixed(3);
}

/** Formats an interval, e.g. "1.021 – 1.034", or a dash if there is none. */
export function formatInterval(
  lower: number | null | undefined,
  upper: number | null | undefined,
): string {
  if (
    lower === null ||
    lower === undefined ||
    upper === null ||
    upper === undefined
  )
    return '–';
  return `${lower.toFixed(3)} – ${upper.toFixed(3)}`;
}

/** Formats a share as a percentage, e.g. 0.973 → "97 %"; only exactly 0 and 1 become 0 % and 100 %. */
export function formatShare(share: number | null | undefined): string {
  if (share === null || share === undefined) return '–';
  const percent = share * 100;
  if (share > 0 && percent < 1) return '< 1 %';
  if (share < 1 && percent > 99) return '> 99 %';
  return `${Math.round(percent)} %`;
}

/** Formats a share as a percentage with at most three digits, e.g. 0.03 → "3 %", 0.0215 → "2.15 %". */
export function formatPercent(share: number): string {
  return `${Number((share * 100).toPrecision(3)).toLocaleString('en-GB', { maximumFractionDigits: 6 })} %`;
}

/** Prevents line breaks between a figure and its percent sign and within a p value. */
export function keepFiguresUnbroken(words: string): string {
  return words
    .replaceAll(/(\d) %/g, '$1\u00a0%')
    .replaceAll('p = ', 'p\u00a0=\u00a0')
    .replaceAll(/(\de)-(\d)/g, '$1\u2011$2');
}
