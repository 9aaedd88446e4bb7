/** Turns comparison rows into series and dots for the generic charts; figures are only scaled per item. */
import type {
  Benchmark,
  Comparison,
  Derived,
  Measurement,
} from '../../api/types';
import type { DotRow } from '../../charts/dot-chart';
import type { IntervalSeries } from '../../charts/interval-picture';
import { formatInterval, formatRatio, formatValue } from '../../lib/units';
import { derivedInterval, derivedValue } from '../../ui/derived-metric-texts';
import { scaleOf, type PerUnit } from './per-unit';
import { isDerivedRowShown, isShown, type ArmsView } from './arms-view';

/** Returns the index of the arm among the declared arms, so that it keeps its look when other arms are hidden. */
export function lookOf(benchmark: Benchmark, arm: string): number {
  const index = benchmark.arms.indexOf(arm);
  return index < 0 ? benchmark.arms.length : index;
}

/** Returns the arms of the rows, declared arms first and in declared order. */
export function armsOf(
  benchmark: Benchmark,
  rows: readonly { arm: string }[],
): string[] {
  const arms = [...new Set(rows.map(({ arm }) => arm))];
  return arms.toSorted((a, b) => lookOf(benchmark, a) - lookOf(benchmark, b));
}

function xOf(view: ArmsView, params: Comparison['params']): number {
  return Number(params[view.x ?? ''] ?? 0);
}

export function ratioSeries(
  benchmark: Benchmark,
  view: ArmsView,
  rows: readonly Comparison[],
): IntervalSeries[] {
  return armsOf(benchmark, rows).map((arm) => ({
    name: arm,
    look: lookOf(benchmark, arm),
    points: rows
      .filter((row) => row.arm === arm)
      .map((row) => ({
        x: xOf(view, row.params),
        value: row.ratio,
        lower: row.lower,
        upper: row.upper,
      })),
  }));
}

export function valueSeries(
  benchmark: Benchmark,
  view: ArmsView,
  rows: readonly Measurement[],
  valueOf: (row: Measurement) => number | null,
): IntervalSeries[] {
  return armsOf(benchmark, rows).map((arm) => ({
    name: arm,
    look: lookOf(benchmark, arm),
    points: rows
      .filter((row) => row.arm === arm)
      .map((row) => ({
        x: xOf(view, row.params),
        value: valueOf(row),
        lower: null,
        upper: null,
      })),
  }));
}

/** Returns the derived metrics of each arm as text, e.g. `4.51× as fast as seed, FFI overhead 17.4 %`. */
export function derivedNotes(
  derived: readonly Derived[],
  view: ArmsView,
  arm: string,
): string[] {
  return derived
    .filter(
      (row) =>
        row.arm === arm &&
        row.kind !== 'crossover' &&
        isShown(view, row.params),
    )
    .filter((row) => row.value !== null)
    .map((row) =>
      row.words === ''
        ? `${row.name} ${derivedValue(row)} (${derivedInterval(row)})`
        : row.words,
    );
}

export function crossoversOf(
  derived: readonly Derived[],
  view: ArmsView,
  metric: string,
): Derived[] {
  return derived.filter(
    (row) =>
      row.kind === 'crossover' &&
      row.metric === metric &&
      row.param === view.x &&
      isDerivedRowShown(view, row.params),
  );
}

export function ratioDots(
  benchmark: Benchmark,
  rows: readonly Comparison[],
  notes: (arm: string) => string | undefined,
): DotRow[] {
  return rows
    .toSorted((a, b) => (a.ratio ?? Infinity) - (b.ratio ?? Infinity))
    .map((row) => ({
      name: row.arm,
      look: lookOf(benchmark, row.arm),
      value: row.ratio,
      lower: row.lower,
      upper: row.upper,
      figure: `${formatRatio(row.ratio)} (${formatInterval(row.lower, row.upper)})`,
      note: notes(row.arm),
    }));
}

/** Returns a key that sorts better rows first, whether higher or lower values are better. */
function sortKey(row: Measurement): number {
  return row.direction === 'lower' ? row.median : -row.median;
}

export function valueDots(
  benchmark: Benchmark,
  rows: readonly Measurement[],
  per: PerUnit,
): DotRow[] {
  return rows
    .toSorted((a, b) => sortKey(a) - sortKey(b))
    .map((row) => {
      const scale = scaleOf(row, per);
      const format = (value: number) => formatValue(scale(value), row.unit);
      return {
        name: row.arm,
        look: lookOf(benchmark, row.arm),
        value: scale(row.median),
        lower: scale(row.min),
        upper: scale(row.p99),
        further: [scale(row.max)],
        figure: format(row.median),
        note: `p99 ${format(row.p99)}, max ${format(row.max)}`,
      };
    });
}
