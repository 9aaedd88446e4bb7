/**
 * Draws one target's comparisons with the generic charts: lines over a param with the crossovers marked, or
 * arms side by side. The server computes every ratio and crossover.
 */
import type { ReactNode } from 'react';

import type { Benchmark, Comparison, Derived, Judged } from '../../api/types';
import { ChartFrame } from '../../charts/chart-frame';
import { DotChart } from '../../charts/dot-chart';
import { chooseScale } from '../../charts/interval-axes';
import { IntervalChart } from '../../charts/interval-chart';
import type {
  ReferenceMark,
  VerticalMark,
} from '../../charts/interval-picture';
import { compareParams, formatParam, paramsLabel } from '../../lib/params';
import {
  formatInteger,
  formatInterval,
  formatNumber,
  formatRatio,
} from '../../lib/units';
import { Identifier } from '../../ui/identifier';
import { comparisonKey } from '../../ui/comparison-table';
import { DataTable } from '../../ui/data-table';
import { winsFromText } from '../../ui/derived-metric-texts';
import { Crossovers } from './crossovers';
import {
  crossoversOf,
  derivedNotes,
  lookOf,
  ratioDots,
  ratioSeries,
} from './arm-series';
import type { ArmsView } from './arms-view';

export interface RatioChartProps {
  benchmark: Benchmark;
  metric: string;
  view: ArmsView;
  /** The comparisons of the arms and points shown, each with a ratio. */
  rows: readonly Comparison[];
  derived: readonly Derived[];
  legend: ReactNode;
}

export function RatioChart(props: RatioChartProps) {
  const { benchmark, metric, view, rows, legend } = props;
  const reference = rows[0]?.reference ?? benchmark.reference;
  const by = view.x === undefined ? 'arms side by side' : `by ${view.x}`;
  const at = fixedParamsText(view);
  return (
    <ChartFrame
      title={`Ratio of ${metric} to ${reference}, ${by}${at}`}
      summary={summaryOf(rows)}
      legend={legend}
      chart={
        view.x === undefined ? (
          <SideBySide {...props} />
        ) : (
          <OverParam {...props} x={view.x} />
        )
      }
      tableToggle="Ratios as a table"
      table={<RatioTable rows={rows} label={`Ratios ${by}${at}`} />}
    />
  );
}

const SEVERITY: readonly Judged[] = [
  'fail',
  'inconclusive',
  'pass',
  'not_applicable',
];

/** Returns whether a comparison has a ratio; one that was not measured or must not be compared has none. */
export function hasRatio({ ratio }: Comparison): boolean {
  return ratio !== null;
}

/** Returns the row whose verdict is the worst. */
export function worst(rows: readonly Comparison[]): Comparison | undefined {
  return SEVERITY.flatMap((verdict) =>
    rows.filter((row) => row.verdict === verdict),
  )[0];
}

/** Summarizes the rows: how many have each verdict, and the sentence of the worst one. */
function summaryOf(rows: readonly Comparison[]): string {
  const counts = SEVERITY.toReversed()
    .map(
      (verdict) =>
        [
          rows.filter((row) => row.verdict === verdict).length,
          verdict,
        ] as const,
    )
    .filter(([count]) => count > 0)
    .map(([count, verdict]) => `${formatInteger(count)} ${verdict}`);
  const first = worst(rows);
  const look =
    first === undefined
      ? 'none'
      : `${first.arm} at ${paramsLabel(first.params)}: ${first.words}`;
  return `Verdicts: ${counts.join(', ')}. Look first at: ${look}.`;
}

/** Returns the params that are not on the x axis, e.g. ` at message 150`, or an empty text. */
export function fixedParamsText({ fixed }: ArmsView): string {
  if (fixed.length === 0) return '';
  return ` at ${paramsLabel(Object.fromEntries(fixed.map(({ name, value }) => [name, value])))}`;
}

function margins(rows: readonly Comparison[]): number[] {
  return [...new Set(rows.map((row) => row.margin_percent))];
}

function references(
  rows: readonly Comparison[],
  reference: string,
): ReferenceMark[] {
  return [
    {
      y: 1,
      label: `1.0 – as fast as ${reference}; below is faster`,
      side: 'below',
    },
    ...margins(rows).map((percent) => ({
      y: 1 + percent / 100,
      label: `margin ${percent} %`,
      side: 'above' as const,
      dash: '6 4',
    })),
  ];
}

/** Returns one mark per crossover; arms that cross over at the same value share it. */
function marksOf(
  rows: readonly Derived[],
  benchmark: Benchmark,
  unit: string | null,
): VerticalMark[] {
  const values = [...new Set(rows.map(({ value }) => value))].filter(
    (value) => value !== null,
  );
  return values
    .toSorted((a, b) => a - b)
    .map((x) => {
      const arms = rows
        .filter(({ value }) => value === x)
        .map(({ arm }) => arm);
      const [first] = arms;
      return {
        x,
        label: winsFromText(arms, x, unit),
        look:
          arms.length === 1 && first !== undefined
            ? lookOf(benchmark, first)
            : undefined,
      };
    });
}

function OverParam({
  benchmark,
  metric,
  view,
  rows,
  derived,
  x,
}: RatioChartProps & { x: string }) {
  const reference = rows[0]?.reference ?? benchmark.reference;
  const arms = new Set(rows.map(({ arm }) => arm));
  const crossovers = crossoversOf(derived, view, metric).filter(({ arm }) =>
    arms.has(arm),
  );
  return (
    <>
      <Crossovers rows={crossovers} unit={view.xUnit} benchmark={benchmark} />
      <IntervalChart
        series={ratioSeries(benchmark, view, rows)}
        references={references(rows, reference)}
        marks={marksOf(crossovers, benchmark, view.xUnit)}
        band={[1, 1 + Math.max(0, ...margins(rows)) / 100]}
        xScale={chooseScale(rows.map((row) => Number(row.params[x])))}
        yScale="log"
        xLabel={view.xUnit === null ? x : `${x} (${view.xUnit})`}
        yLabel="ratio"
        format={formatNumber}
        formatX={formatParam}
        height={320}
      />
    </>
  );
}

function SideBySide({ benchmark, view, rows, derived }: RatioChartProps) {
  const reference = rows[0]?.reference ?? benchmark.reference;
  const notes = (arm: string) =>
    derivedNotes(derived, view, arm).join(' · ') || undefined;
  return (
    <DotChart
      rows={ratioDots(benchmark, rows, notes)}
      reference={{
        at: 1,
        label: `1.0 – as fast as ${reference}; left is faster`,
      }}
      format={formatNumber}
      scaleLabel={(log) => (log ? 'ratio, logarithmic' : 'ratio')}
    />
  );
}

function RatioTable({
  rows,
  label,
}: {
  rows: readonly Comparison[];
  label: string;
}) {
  return (
    <DataTable
      label={label}
      rows={rows.toSorted((a, b) => compareParams(a.params, b.params))}
      rowKey={comparisonKey}
      columns={[
        { header: 'Arm', cell: (row) => <Identifier name={row.arm} /> },
        { header: 'Params', cell: (row) => paramsLabel(row.params) },
        {
          header: 'Ratio',
          cell: (row) => formatRatio(row.ratio),
          align: 'right',
        },
        {
          header: 'Interval',
          cell: (row) => formatInterval(row.lower, row.upper),
          align: 'right',
        },
      ]}
    />
  );
}
