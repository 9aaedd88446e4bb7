/**
 * Draws comparisons of one target with the generic interval chart: knows arms, nothing of the chart library.
 */
import type { Comparison } from '../../api/types';
import { ChartFrame } from '../../charts/chart-frame';
import { IntervalChart, type IntervalSeries, type ReferenceMark } from '../../charts/interval-chart';
import { Legend } from '../../charts/legend';
import { compareParams, formatParam, paramsLabel } from '../../lib/params';
import { formatInterval, formatRatio } from '../../lib/units';
import { comparisonKey } from '../../ui/comparison-table';
import { DataTable } from '../../ui/data-table';

/** The one param that varies gives the axis its name; several give their label at each point. */
function axis(rows: readonly Comparison[]): { label: string; x: (row: Comparison) => string } {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row.params)))];
  const varying = names.filter((name) => new Set(rows.map((row) => row.params[name])).size > 1);
  const only = varying.length === 1 ? varying[0] : undefined;
  if (only === undefined) return { label: 'params', x: (row) => paramsLabel(row.params) };
  return { label: only, x: (row) => formatParam(row.params[only] ?? '') };
}

function references(rows: readonly Comparison[]): ReferenceMark[] {
  const reference = rows[0]?.reference ?? 'reference';
  const margins = [...new Set(rows.map((row) => row.margin_percent))];
  return [
    { y: 1, label: `1.0 – as fast as ${reference}`, side: 'below' },
    ...margins.map((percent) => ({
      y: 1 + percent / 100,
      label: `margin ${percent} %`,
      side: 'above' as const,
      dash: '6 4',
    })),
  ];
}

export function RatioChart({ rows, summary }: { rows: readonly Comparison[]; summary: string }) {
  const sorted = rows.toSorted((a, b) => compareParams(a.params, b.params));
  const { label, x } = axis(sorted);
  const series: IntervalSeries[] = [...new Set(sorted.map((row) => row.arm))].map((arm) => ({
    name: arm,
    points: sorted
      .filter((row) => row.arm === arm)
      .map((row) => ({ x: x(row), value: row.ratio, lower: row.lower, upper: row.upper })),
  }));
  const marks = references(sorted);
  const first = sorted[0];
  return (
    <ChartFrame
      title={`Time of each arm ÷ time of ${first?.reference ?? 'the reference'}, by ${label}`}
      summary={summary}
      legend={<Legend names={series.map(({ name }) => name)} />}
      chart={
        <IntervalChart
          series={series}
          references={marks}
          xLabel={label}
          yLabel="ratio"
          format={(value) => value.toFixed(2)}
        />
      }
      tableToggle="The same as a table"
      table={
        <DataTable
          label={`Ratios by ${label}`}
          rows={sorted}
          rowKey={comparisonKey}
          columns={[
            { header: 'Arm', cell: (row) => row.arm },
            { header: label, cell: x, align: 'right' },
            { header: 'Ratio', cell: (row) => formatRatio(row.ratio), align: 'right' },
            { header: 'Interval', cell: (row) => formatInterval(row.lower, row.upper), align: 'right' },
          ]}
        />
      }
    />
  );
}
