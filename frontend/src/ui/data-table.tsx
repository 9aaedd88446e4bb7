/**
 * A dense semantic table: numbers are right-aligned in tabular figures, and wide tables scroll by keyboard. On a
 * narrow screen every row is a card with all its cells, because scrolling sideways would hide some.
 */
import type { ReactNode } from 'react';

import { ScrollRegion } from './scroll-region';
import classes from './table.module.css';

export interface Column<Row> {
  header: string;
  /** Key of the column, if two columns may have the same header. */
  id?: string;
  cell: (row: Row) => ReactNode;
  align?: 'right';
  wrap?: boolean;
  /** True for identifiers, which break where `Identifier` allows it before the table has to scroll. */
  breaks?: boolean;
}

export interface DataTableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  current?: string | undefined;
}

/** A longer table scrolls in a box of its own, with its head in sight. */
const SCROLL_ABOVE_ROWS = 16;

export function DataTable<Row>({
  label,
  columns,
  rows,
  rowKey,
  current,
}: DataTableProps<Row>) {
  return (
    <ScrollRegion
      label={label}
      className={rows.length > SCROLL_ABOVE_ROWS ? classes.long : undefined}
    >
      <table className={classes.table}>
        <caption className="pl-visually-hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.id ?? column.header}
                scope="col"
                className={column.align === 'right' ? classes.right : undefined}
              >
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <DataRow
              key={rowKey(row)}
              row={row}
              columns={columns}
              isCurrent={rowKey(row) === current}
            />
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

interface DataRowProps<Row> {
  row: Row;
  columns: readonly Column<Row>[];
  isCurrent: boolean;
}

function DataRow<Row>({ row, columns, isCurrent }: DataRowProps<Row>) {
  return (
    <tr
      className={isCurrent ? classes.current : undefined}
      aria-current={isCurrent ? 'true' : undefined}
    >
      {columns.map((column) => {
        const names = [
          column.align === 'right' ? classes.right : '',
          column.wrap === true ? classes.wrap : '',
          column.breaks === true ? classes.breaks : '',
        ];
        return (
          <td
            key={column.id ?? column.header}
            data-header={column.header}
            className={names.join(' ').trim() || undefined}
          >
            {column.cell(row)}
          </td>
        );
      })}
    </tr>
  );
}
