/** Draws the measured values of one target: the median of every arm, per iteration, per item or per byte. */
import type { ReactNode } from 'react';

import type { Benchmark, Measurement } from '../../api/types';
import { ChartFrame } from '../../charts/chart-frame';
import { DotChart } from '../../charts/dot-chart';
import { chooseScale } from '../../charts/interval-axes';
import { IntervalChart } from '../../charts/interval-chart';
import { compareParams, formatParam, paramsLabel } from '../../lib/params';
import { formatInteger, formatValue, type Unit } from '../../lib/units';
import { Identifier } from '../../ui/identifier';
import { DataTable } from '../../ui/data-table';
import { fixedParamsText } from './ratio-chart';
import { valueDots, valueSeries } from './arm-series';
import { scaleOf, type PerUnit } from './per-unit';
import type { ArmsView } from './arms-view';

export interface ValueChartProps {
  benchmark: Benchmark;
  metric: string;
  per: PerUnit;
  view: ArmsView;
  /** The measurements of the arms and points shown. */
  rows: readonly Measurement[];
  legend: ReactNode;
}

export function ValueChart(props: ValueChartProps) {
  const { metric, per, view, rows, legend } = props;
  const unit = rows[0]?.unit ?? 'ns';
  const format = (value: number) => formatValue(value, unit);
  const at = fixedParamsText(view);
  const direction = rows[0]?.direction === 'higher' ? 'Higher' : 'Lower';
  return (
    <ChartFrame
      title={`${metric} per ${per}${view.x === undefined ? '' : `, by ${view.x}`}${at}`}
      summary={`Medians of every arm, including the reference. ${direction} is better.`}
      legend={legend}
      chart={
        view.x === undefined ? (
          <SideBySide {...props} format={format} />
        ) : (
          <OverParam {...props} format={format} x={view.x} />
        )
      }
      tableToggle="Values as a table"
      table={
        <ValueTable
          rows={rows}
          per={per}
          unit={unit}
          label={`${metric} per ${per}${at}`}
        />
      }
    />
  );
}

type Drawn = ValueChartProps & { format: (value: number) => string };

function OverParam({
  benchmark,
  metric,
  per,
  view,
  rows,
  format,
  x,
}: Drawn & { x: string }) {
  return (
    <IntervalChart
      series={valueSeries(benchmark, view, rows, (row) =>
        scaleOf(row, per)(row.median),
      )}
      references={[]}
      xScale={chooseScale(rows.map((row) => Number(row.params[x])))}
      yScale="log"
      xLabel={view.xUnit === null ? x : `${x} (${view.xUnit})`}
      yLabel={`${metric} per ${per}`}
      format={format}
      formatX={formatParam}
      height={320}
    />
  );
}

function SideBySide({ benchmark, metric, per, rows, format }: Drawn) {
  return (
    <DotChart
      rows={valueDots(benchmark, rows, per)}
      format={format}
      scaleLabel={(log) =>
        `${metric} per ${per}${log ? ', logarithmic' : ''}. Dot: median; bar: smallest to p99; tick: largest`
      }
    />
  );
}

interface ValueTableProps {
  rows: readonly Measurement[];
  per: PerUnit;
  unit: Unit;
  label: string;
}

export function ValueTable({ rows, per, unit, label }: ValueTableProps) {
  const figure = (pick: (row: Measurement) => number) => (row: Measurement) =>
    formatValue(scaleOf(row, per)(pick(row)), unit);
  return (
    <DataTable
      label={label}
      rows={rows.toSorted((a, b) => compareParams(a.params, b.params))}
      rowKey={(row) => [row.arm, paramsLabel(row.params)].join('|')}
      columns={[
        { header: 'Arm', cell: (row) => <Identifier name={row.arm} /> },
        { header: 'Params', cell: (row) => paramsLabel(row.params) },
        {
          header: `Median per ${per}`,
          cell: figure((row) => row.median),
          align: 'right',
        },
        { header: 'Mean', cell: figure((row) => row.mean), align: 'right' },
        { header: 'p99', cell: figure((row) => row.p99), align: 'right' },
        { header: 'Smallest', cell: figure((row) => row.min), align: 'right' },
        { header: 'Largest', cell: figure((row) => row.max), align: 'right' },
        {
          header: 'Samples',
          cell: (row) => formatInteger(row.n),
          align: 'right',
        },
        { header: 'Flags', cell: (row) => row.flags.join(', ') || '–' },
      ]}
    />
  );
}
