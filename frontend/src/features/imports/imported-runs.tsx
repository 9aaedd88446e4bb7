/**
 * What criterion measured: a run for each saved baseline, its benchmarks with their outliers. Invariant: no
 * figure is called a verdict; the run's own page has its samples and how they stand against gates.
 */
import type { ImportDetail, ImportedRun } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { formatFigure, formatInteger } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Panel } from '../../ui/panel';

type ImportedSeries = ImportedRun['series'][number];

const COLUMNS: readonly Column<ImportedSeries>[] = [
  { header: 'Benchmark', cell: (series) => <span title={series.id}>{series.benchmark}</span> },
  { header: 'Arm', cell: ({ arm }) => arm },
  { header: 'Params', cell: ({ params }) => paramsLabel(params) },
  { header: 'Samples', cell: ({ samples }) => formatInteger(samples), align: 'right' },
  { header: 'Median, ns', cell: ({ median_ns: median }) => formatFigure(median), align: 'right' },
  {
    header: 'Outliers, mild and severe',
    cell: ({ outliers_mild: mild, outliers_severe: severe }) =>
      `${formatInteger(mild)} and ${formatInteger(severe)}`,
    align: 'right',
  },
];

export function ImportedRuns({ document: { runs, why_no_verdict: why } }: { document: ImportDetail }) {
  return (
    <>
      {runs.map((run) => (
        <Panel
          key={run.run_id}
          title={run.baseline === 'new' ? 'Last run' : `Baseline ${run.baseline}`}
          flush
          note={why}
          actions={
            <AppLink to="/runs/$runId" params={{ runId: run.run_id }}>
              Its run
            </AppLink>
          }
        >
          <DataTable
            label={`Benchmarks of ${run.baseline}`}
            columns={COLUMNS}
            rows={run.series}
            rowKey={({ id }) => id}
          />
        </Panel>
      ))}
    </>
  );
}
