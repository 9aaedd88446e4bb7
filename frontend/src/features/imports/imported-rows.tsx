/** The rows of a document: printed figures, and the server's computed ones. */
import type { ImportedRow } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { DataTable, type Column } from '../../ui/data-table';
import { Status, type Badge } from '../../ui/status';
import classes from './imports.module.css';

/** The only possible verdict: an average does not tell how many samples it has. */
const INSUFFICIENT: Badge = {
  tone: 'unsure',
  icon: 'question',
  word: 'insufficient',
};

const COLUMNS: readonly Column<ImportedRow>[] = [
  {
    header: 'Device',
    cell: ({ device, model, api, variant }) => (
      <>
        {device}
        <div className={classes.quiet}>
          {[model, api === null ? null : `API ${api}`, variant]
            .filter((part) => part !== null)
            .join(', ')}
        </div>
      </>
    ),
  },
  { header: 'Params', cell: ({ params }) => paramsLabel(params) },
  {
    header: 'Arm',
    align: 'right',
    cell: (row) => <PrintedFigure name={row.arm} figure={row.value_printed} />,
  },
  {
    header: 'Reference',
    align: 'right',
    cell: (row) => (
      <PrintedFigure name={row.reference} figure={row.reference_printed} />
    ),
  },
  {
    header: 'Difference',
    align: 'right',
    cell: ({ delta_words: words }) => words,
  },
  { header: 'Summary', wrap: true, cell: (row) => <Words row={row} /> },
  {
    header: 'Verdict',
    cell: ({ why }) => <Status look={INSUFFICIENT} title={why} />,
  },
];

export function ImportedRows({ rows }: { rows: readonly ImportedRow[] }) {
  return (
    <DataTable
      label="Rows of the document"
      columns={COLUMNS}
      rows={rows}
      rowKey={({ id }) => id}
    />
  );
}

function PrintedFigure({ name, figure }: { name: string; figure: string }) {
  return (
    <>
      {figure}
      <div className={classes.quiet}>{name}</div>
    </>
  );
}

function Words({ row: { words, raw } }: { row: ImportedRow }) {
  return (
    <>
      {words}
      <details className={classes.lines}>
        <summary>Lines</summary>
        {raw.map((line) => (
          <div key={line} className="pl-mono">
            {line}
          </div>
        ))}
      </details>
    </>
  );
}
