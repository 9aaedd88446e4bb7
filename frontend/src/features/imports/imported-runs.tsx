/**
 * Lists the imported runs of a document, with benchmarks and outliers, and what was left out.
 *
 * Nothing here is a verdict; each run's page has its samples and gates.
 */
import type { ImportDetail, ImportedRun } from '../../api/types';
import { paramTexts } from '../../lib/params';
import { formatInteger, formatValue } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Identifier } from '../../ui/identifier';
import { Panel } from '../../ui/panel';
import classes from './imports.module.css';

type ImportedSeries = ImportedRun['series'][number];
type LeftOut = ImportDetail['left_out'][number];

const COLUMNS: readonly Column<ImportedSeries>[] = [
  {
    header: 'Benchmark',
    breaks: true,
    cell: ({ id, benchmark, arm, metric, params }) => (
      <>
        {id}
        <div className={classes.quiet}>
          <Identifier
            name={[benchmark, arm, metric, ...paramTexts(params)].join(' · ')}
          />
        </div>
      </>
    ),
  },
  {
    header: 'Median',
    cell: ({ median, unit }) => formatValue(median, unit),
    align: 'right',
  },
  {
    header: 'Samples',
    cell: ({ samples, summary }) =>
      summary === null ? formatInteger(samples) : `none, its ${summary}`,
    align: 'right',
  },
  {
    header: 'Outliers, mild and severe',
    cell: ({ outliers_mild: mild, outliers_severe: severe }) =>
      `${formatInteger(mild)} and ${formatInteger(severe)}`,
    align: 'right',
  },
];

const LEFT_OUT: readonly Column<LeftOut>[] = [
  { header: 'Series', breaks: true, cell: ({ id }) => id ?? '–' },
  { header: 'Where', breaks: true, cell: ({ path }) => path ?? '–' },
  { header: 'Why', wrap: true, cell: ({ why }) => why },
];

export function SeriesTable({
  label,
  series,
}: {
  label: string;
  series: readonly ImportedSeries[];
}) {
  return (
    <DataTable
      label={label}
      columns={COLUMNS}
      rows={series}
      rowKey={({ id, metric }) => `${id} ${metric}`}
    />
  );
}

export function LeftOutTable({
  label,
  entries,
}: {
  label: string;
  entries: readonly LeftOut[];
}) {
  return (
    <DataTable
      label={label}
      columns={LEFT_OUT}
      rows={entries}
      rowKey={({ id, path, why }) => [id, path, why].join('|')}
    />
  );
}

/** Returns the heading of a run: its branch and commit. Several runs hold what one cannot hold all gates of. */
function titleOf(
  run: ImportedRun,
  { runs }: Pick<ImportDetail, 'runs'>,
): string {
  const { baseline, commit } = run;
  const name = `Branch ${baseline}`;
  const parts = runs.filter(
    (other) => other.baseline === baseline && other.commit === commit,
  );
  const part =
    parts.length === 1
      ? ''
      : `, part ${parts.indexOf(run) + 1} of ${parts.length}`;
  return `${commit === null ? name : `${name} at ${commit.slice(0, 12)}`}${part}`;
}

export function ImportedRuns({ document }: { document: ImportDetail }) {
  const { runs, left_out: leftOut } = document;
  return (
    <>
      {leftOut.length > 0 && (
        <Panel title="Left out" flush>
          <LeftOutTable label="Series that were left out" entries={leftOut} />
        </Panel>
      )}
      {runs.map((run) => (
        <Panel
          key={run.run_id}
          title={titleOf(run, document)}
          flush
          actions={
            <AppLink
              to="/runs/$runId"
              params={{ runId: run.run_id }}
              aria-label={`The run of ${titleOf(run, document).toLowerCase()}`}
            >
              The run
            </AppLink>
          }
        >
          <SeriesTable
            label={`Benchmarks of ${titleOf(run, document).toLowerCase()}`}
            series={run.series}
          />
        </Panel>
      ))}
    </>
  );
}
