/** Lists the measurements of both sides in the server's order: verdicts first, then the clearest differences. */
import type { CompareRow } from '../../api/types';
import { paramsKey, paramsLabel } from '../../lib/params';
import {
  formatInterval,
  formatPercent,
  formatRatio,
  formatValue,
  keepFiguresUnbroken,
} from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Identifier } from '../../ui/identifier';
import { VERDICTS } from '../../ui/state-badges';
import { Status, type Badge } from '../../ui/status';
import { TargetName } from '../../ui/target-name';
import classes from './compare.module.css';

const SIGNIFICANCE: Readonly<Record<CompareRow['significance'], Badge>> = {
  clear: { tone: 'busy', icon: 'eye', word: 'clear' },
  below_noise: { tone: 'quiet', icon: 'muted', word: 'below the noise floor' },
  uncertain: { tone: 'quiet', icon: 'question', word: 'uncertain' },
};

function rowKey(row: CompareRow): string {
  return [
    row.target_id,
    row.benchmark,
    row.arm,
    row.metric,
    paramsKey(row.params),
  ].join('|');
}

const MAGNITUDE =
  'Size of the difference, whatever its direction. Rows without an A/B verdict are ordered by how ' +
  'clear they are, then by size.';

const COLUMNS: readonly Column<CompareRow>[] = [
  { header: 'Benchmark', cell: (row) => <Name row={row} />, breaks: true },
  { header: 'Summary', cell: (row) => <Words row={row} />, wrap: true },
  { header: 'Certainty', cell: (row) => <Significance row={row} /> },
  { header: 'Magnitude', cell: (row) => <Magnitude row={row} /> },
  {
    header: 'Base',
    cell: (row) => <SideValue row={row} of="base" />,
    align: 'right',
  },
  {
    header: 'Head',
    cell: (row) => <SideValue row={row} of="head" />,
    align: 'right',
  },
  {
    header: 'Cost ratio',
    cell: ({ ratio }) => formatRatio(ratio),
    align: 'right',
  },
  {
    header: 'Interval',
    cell: ({ lower, upper }) => formatInterval(lower, upper),
    align: 'right',
  },
];

export function CompareTable({ rows }: { rows: readonly CompareRow[] }) {
  const targets = new Set(rows.map(({ target_id: id }) => id));
  const columns =
    targets.size > 1
      ? [
          {
            header: 'Target',
            cell: ({ target_id: id, target_name: name }: CompareRow) => (
              <TargetName id={id} name={name} />
            ),
          },
          ...COLUMNS,
        ]
      : COLUMNS;
  return (
    <DataTable
      label="Measurements of both sides"
      rows={rows}
      rowKey={rowKey}
      columns={columns}
    />
  );
}

/** Shows the full name of a measurement in one cell, so that a phone has room for the summary beside it. */
function Name({
  row: { benchmark, arm, params, metric, series_id: seriesId },
}: {
  row: CompareRow;
}) {
  const name = (
    <>
      <Identifier name={benchmark} /> · <Identifier name={arm} />
      {metric !== 'time' && `, ${metric}`}
    </>
  );
  return (
    <>
      {seriesId === null ? (
        name
      ) : (
        <AppLink to="/series/$seriesId" params={{ seriesId }}>
          {name}
        </AppLink>
      )}
      <div className={classes.quiet}>{paramsLabel(params)}</div>
    </>
  );
}

function Words({ row }: { row: CompareRow }) {
  const excluded = row.head?.excluded ?? row.base?.excluded ?? null;
  return (
    <>
      {keepFiguresUnbroken(row.words)}
      {excluded !== null && (
        <div className={classes.quiet}>excluded: {excluded}</div>
      )}
    </>
  );
}

function Significance({ row }: { row: CompareRow }) {
  if (row.judged && row.verdict !== null) {
    return (
      <>
        <Status look={VERDICTS[row.verdict]} />
        <div className={classes.quiet}>judged by an A/B job</div>
      </>
    );
  }
  const floor =
    row.mde === null
      ? 'Noise floor not measured.'
      : `Noise floor ${formatPercent(row.mde)}.`;
  return (
    <>
      <Status
        look={SIGNIFICANCE[row.significance]}
        title={`Shown, not judged. ${floor}`}
      />
      {row.verdict_job_id !== null && (
        <div className={classes.why}>A/B job inconclusive</div>
      )}
    </>
  );
}

function Magnitude({ row: { magnitude } }: { row: CompareRow }) {
  return <span title={MAGNITUDE}>{magnitude}</span>;
}

function SideValue({ row, of }: { row: CompareRow; of: 'base' | 'head' }) {
  const side = row[of];
  return (
    <>{side === null ? 'not measured' : formatValue(side.value, row.unit)}</>
  );
}
