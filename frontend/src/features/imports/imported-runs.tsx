/**
 * Lists what criterion measured: a run for each saved baseline, with its benchmarks and outliers.
 *
 * Nothing here is a verdict; each run's page has its samples and gates.
 */
import type { ImportDetail, ImportedRun } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { formatInteger, formatValue } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Identifier } from '../../ui/identifier';
import { Panel } from '../../ui/panel';
import classes from './imports.module.css';

type ImportedSeries = ImportedRun['series'][number];

const COLUMNS: readonly Column<ImportedSeries>[] = [
  {
    header: 'Benchmark',
    breaks: true,
    cell: ({ id, benchmark, arm, params }) => (
      <div title={id}>
        <Identifier name={benchmark} /> · <Identifier name={arm} />
        <div className={classes.quiet}>{paramsLabel(params)}</div>
      </div>
    ),
  },
  {
    header: 'Median',
    cell: ({ median_ns: median }) => formatValue(median, 'ns'),
    align: 'right',
  },
  {
    header: 'Samples',
    cell: ({ samples }) => formatInteger(samples),
    align: 'right',
  },
  {
    header: 'Outliers, mild and severe',
    cell: ({ outliers_mild: mild, outliers_severe: severe }) =>
      `${formatInteger(mild)} and ${formatInteger(severe)}`,
    align: 'right',
  },
];

/** Criterion keeps its last run under a name of its own. */
function titleOf({ baseline }: ImportedRun): string {
  return baseline === 'new' ? 'Last run' : `Baseline ${baseline}`;
}

export function ImportedRuns({
  document: { runs },
}: {
  document: ImportDetail;
}) {
  return (
    <>
      {runs.map((run) => (
        <Panel
          key={run.run_id}
          title={titleOf(run)}
          flush
          actions={
            <AppLink
              to="/runs/$runId"
              params={{ runId: run.run_id }}
              aria-label={`The run of ${titleOf(run).toLowerCase()}`}
            >
              The run
            </AppLink>
          }
        >
          <DataTable
            label={`Benchmarks of ${titleOf(run).toLowerCase()}`}
            columns={COLUMNS}
            rows={run.series}
            rowKey={({ id }) => id}
          />
        </Panel>
      ))}
    </>
  );
}
