/** Shows derived metrics as a table: what each compares, its value and its interval. */
import type { Derived } from '../api/types';
import { paramsKey, paramsLabel } from '../lib/params';
import { DataTable, type Column } from './data-table';
import { Identifier } from './identifier';
import { derivedInterval, derivedValue } from './derived-metric-texts';

const COLUMNS: readonly Column<Derived>[] = [
  {
    header: 'Name',
    cell: (row) => <span className="pl-mono">{row.name}</span>,
  },
  { header: 'Arm', cell: (row) => <Identifier name={row.arm} /> },
  { header: 'Params', cell: (row) => paramsLabel(row.params) },
  { header: 'Value', cell: derivedValue, align: 'right' },
  { header: 'Interval', cell: derivedInterval, align: 'right' },
  { header: 'Summary', cell: (row) => <Words row={row} />, wrap: true },
];

/** Shows the sentence of a derived metric or why it has none, and its description. */
function Words({ row: { words, note, description } }: { row: Derived }) {
  return (
    <>
      {words}
      {note !== '' && <div style={{ color: 'var(--pl-muted)' }}>{note}</div>}
      {typeof description === 'string' && (
        <div style={{ color: 'var(--pl-muted)' }}>{description}</div>
      )}
    </>
  );
}

export interface DerivedMetricsTableProps {
  rows: readonly Derived[];
  showBenchmark?: boolean;
}

export function DerivedMetricsTable({
  rows,
  showBenchmark = false,
}: DerivedMetricsTableProps) {
  const benchmark: Column<Derived> = {
    header: 'Benchmark',
    cell: (row) => <Identifier name={row.benchmark} />,
  };
  return (
    <DataTable
      label="Derived metrics"
      rows={rows}
      columns={showBenchmark ? [benchmark, ...COLUMNS] : COLUMNS}
      rowKey={(row) =>
        [row.name, row.benchmark, row.arm, paramsKey(row.params)].join('|')
      }
    />
  );
}
