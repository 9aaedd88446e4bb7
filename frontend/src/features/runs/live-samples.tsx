/** Lists the samples of each case as they arrive: count, median and the latest values. */
import { useQuery } from '@tanstack/react-query';

import { jobEnded, liveSeriesQuery } from '../../api/runs';
import type { Job, LiveSeries } from '../../api/types';
import { Sparkline } from '../../charts/sparkline';
import { compareParams, paramsKey, paramsLabel } from '../../lib/params';
import { formatInteger, formatValue } from '../../lib/units';
import { DataTable, type Column } from '../../ui/data-table';
import { Identifier } from '../../ui/identifier';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';

const COLUMNS: readonly Column<LiveSeries>[] = [
  {
    header: 'Benchmark',
    cell: (row) => <Identifier name={row.benchmark} />,
    breaks: true,
  },
  { header: 'Params', cell: (row) => paramsLabel(row.params) },
  { header: 'Arm', cell: (row) => <Identifier name={row.arm} />, breaks: true },
  { header: 'Metric', cell: (row) => row.metric },
  { header: 'Samples', cell: (row) => formatInteger(row.n), align: 'right' },
  {
    header: 'Median',
    cell: (row) => formatValue(row.median, row.unit),
    align: 'right',
  },
  { header: 'Latest values', cell: (row) => <Sparkline values={row.values} /> },
  { header: 'Range shown', cell: (row) => range(row), align: 'right' },
];

function range({ values, unit }: LiveSeries): string {
  if (values.length === 0) return '–';
  return `${formatValue(Math.min(...values), unit)} – ${formatValue(Math.max(...values), unit)}`;
}

function rowKey(row: LiveSeries): string {
  return [
    row.benchmark,
    row.metric,
    row.arm,
    paramsKey(row.params),
    row.side ?? '',
  ].join('|');
}

/** The column of an A/B job that names the revision. */
const SIDE: Column<LiveSeries> = {
  header: 'Side',
  cell: ({ side }) => side ?? '–',
};

export function LiveSamples({ job }: { job: Job }) {
  const series = useQuery(liveSeriesQuery(job.id));
  const ended = jobEnded(job);
  return (
    <Panel title={ended ? 'Samples' : 'Live samples'} flush>
      <QueryView query={series} what="the samples" lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState
              icon="runs"
              title={ended ? 'No samples' : 'No samples yet'}
            >
              {ended
                ? 'The job ended before it measured anything. The log below says why.'
                : 'They appear here as soon as the first launch measures; building comes first.'}
            </EmptyState>
          ) : (
            <DataTable
              label="Samples per case"
              columns={
                items.some(({ side }) => side) ? [SIDE, ...COLUMNS] : COLUMNS
              }
              rowKey={rowKey}
              rows={items.toSorted(
                (a, b) =>
                  a.benchmark.localeCompare(b.benchmark) ||
                  compareParams(a.params, b.params) ||
                  a.arm.localeCompare(b.arm) ||
                  (a.side ?? '').localeCompare(b.side ?? ''),
              )}
            />
          )
        }
      </QueryView>
    </Panel>
  );
}
