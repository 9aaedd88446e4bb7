/** Shows comparisons as a table: the server's sentences and verdicts, with the figures beside them. */
import { Button } from '@mantine/core';

import type { Comparison } from '../api/types';
import { compareParams, paramsKey, paramsLabel } from '../lib/params';
import {
  formatInterval,
  formatRatio,
  formatShare,
  keepFiguresUnbroken,
} from '../lib/units';
import { DataTable, type Column } from './data-table';
import { Identifier } from './identifier';
import { VERDICTS } from './state-badges';
import { Status, type Badge } from './status';
import { TargetName } from './target-name';
import { WaivedMark } from './waived-mark';

export function comparisonKey(row: Comparison): string {
  return [
    row.target_id ?? '',
    row.job_id ?? '',
    row.benchmark,
    row.metric,
    row.arm,
    row.reference,
    row.sides,
    paramsKey(row.params),
  ].join('|');
}

const TARGET: Column<Comparison> = {
  header: 'Target',
  cell: ({ target_id: id, target_name: name }) => (
    <TargetName id={id} name={name ?? '–'} />
  ),
};

const BENCHMARK: Column<Comparison> = {
  header: 'Benchmark',
  cell: ({ benchmark }) => <Identifier name={benchmark} />,
  breaks: true,
};

/** Explains a verdict in brackets, in the words of `BRACKETS` in `contract/paceline_contract/outputs.py`. */
export const BRACKETS = "Verdicts in brackets do not affect the run's verdict.";

/** Returns whether the run's verdict depends on a row; rows that older servers stored do not say so. */
export function isDeciding({ decides }: Pick<Comparison, 'decides'>): boolean {
  return decides !== false;
}

function verdictBadge(row: Comparison): Badge {
  const badge = VERDICTS[row.verdict];
  return isDeciding(row)
    ? badge
    : { ...badge, tone: 'quiet', word: `(${badge.word})` };
}

const VERDICT: Column<Comparison> = {
  header: 'Verdict',
  cell: (row) => (
    <>
      <Status look={verdictBadge(row)} title={row.reason} />
      <WaivedMark waived={row.waived} />
    </>
  ),
};

const FIGURES: readonly Column<Comparison>[] = [
  { header: 'Ratio', cell: (row) => formatRatio(row.ratio), align: 'right' },
  {
    header: '99.8 % interval',
    cell: (row) => formatInterval(row.lower, row.upper),
    align: 'right',
  },
  {
    header: 'Blocks slower',
    cell: (row) => `${formatShare(row.share_slower)} of ${row.blocks}`,
    align: 'right',
  },
  { header: 'Launches', cell: ({ launches }) => launches, align: 'right' },
];

export interface ComparisonTableProps {
  label: string;
  rows: readonly Comparison[];
  /** Key of the chosen row, see `comparisonKey`. */
  current?: string | undefined;
  showBenchmark?: boolean;
  showTarget?: boolean;
  /** Reasons that the page shows elsewhere, once for all of their rows. */
  saidElsewhere?: ReadonlySet<string>;
  /** Makes the point of each row a button. */
  onChoose?: (row: Comparison) => void;
}

export function ComparisonTable(props: ComparisonTableProps) {
  const {
    label,
    rows,
    current,
    showBenchmark = false,
    showTarget = false,
    saidElsewhere,
    onChoose,
  } = props;
  const metrics = new Set(rows.map(({ metric }) => metric));
  const columns: Column<Comparison>[] = [
    ...(showTarget ? [TARGET] : []),
    ...(showBenchmark ? [BENCHMARK] : []),
    { header: 'Arm', cell: (row) => <Identifier name={row.arm} /> },
    ...(metrics.size > 1
      ? [{ header: 'Metric', cell: (row: Comparison) => row.metric }]
      : []),
    {
      header: 'Params',
      cell: (row) => <PointCell row={row} onChoose={onChoose} />,
    },
    VERDICT,
    {
      header: 'Summary',
      cell: (row) => <Words row={row} saidElsewhere={saidElsewhere} />,
      wrap: true,
    },
    ...FIGURES,
  ];
  // Benchmarks and arms keep the order of the server, in which they are declared.
  const arms = [...new Set(rows.map(({ arm }) => arm))];
  const benchmarks = [...new Set(rows.map(({ benchmark }) => benchmark))];
  const sorted = rows.toSorted(
    (a, b) =>
      (a.target_name ?? '').localeCompare(b.target_name ?? '') ||
      benchmarks.indexOf(a.benchmark) - benchmarks.indexOf(b.benchmark) ||
      a.metric.localeCompare(b.metric) ||
      arms.indexOf(a.arm) - arms.indexOf(b.arm) ||
      compareParams(a.params, b.params),
  );
  return (
    <DataTable
      label={label}
      columns={columns}
      rows={sorted}
      rowKey={comparisonKey}
      current={current}
    />
  );
}

function PointCell({
  row,
  onChoose,
}: {
  row: Comparison;
  onChoose: ComparisonTableProps['onChoose'];
}) {
  if (onChoose === undefined) return <>{paramsLabel(row.params)}</>;
  return (
    <Button
      size="compact-xs"
      variant="default"
      h="auto"
      py={3}
      styles={{
        inner: { height: 'auto' },
        label: {
          height: 'auto',
          lineHeight: 1.3,
          whiteSpace: 'normal',
          textAlign: 'left',
        },
      }}
      onClick={() => onChoose(row)}
      aria-label={`Distribution of ${row.arm} at ${paramsLabel(row.params)}, ${row.target_name ?? 'target'}`}
    >
      {paramsLabel(row.params)}
    </Button>
  );
}

/** Shows the sentence of a row and, unless it passed, the reason. */
function Words({
  row,
  saidElsewhere,
}: {
  row: Comparison;
  saidElsewhere: ReadonlySet<string> | undefined;
}) {
  const isSaid = saidElsewhere?.has(row.reason) === true;
  const reason =
    row.verdict === 'pass' ||
    row.reason === '' ||
    row.reason === row.words ||
    isSaid
      ? null
      : row.reason;
  return (
    <>
      {keepFiguresUnbroken(row.words)}
      {reason !== null && (
        <div style={{ color: 'var(--pl-muted)' }}>
          {keepFiguresUnbroken(reason)}
        </div>
      )}
    </>
  );
}
