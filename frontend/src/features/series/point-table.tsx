/** Shows the points of the chart as a table. */
import type { SeriesPage, SeriesPoint } from '../../api/types';
import { conditionFormat, conditionLabels } from '../../lib/conditions';
import { shortId } from '../../lib/ids';
import { formatDateTime } from '../../lib/times';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { unitAt, valueText } from './history-model';

function conditionsText({ conditions }: SeriesPoint): string {
  const keys = Object.keys(conditions);
  const labels = conditionLabels(keys);
  return keys
    .map(
      (key, index) =>
        `${labels[index]} ${conditionFormat(key)(conditions[key]?.median ?? 0)}`,
    )
    .join(', ');
}

function columnsOf(page: SeriesPage): Column<SeriesPoint>[] {
  return [
    { header: 'When', cell: ({ at }) => formatDateTime(at) },
    {
      header: 'Median (99 % interval)',
      cell: (point) => valueText(point, unitAt(page, point.environment)),
      align: 'right',
    },
    {
      header: 'Commit',
      cell: ({ commit }) => (
        <span className="pl-mono">{commit.slice(0, 12)}</span>
      ),
    },
    {
      header: 'Run',
      cell: ({ run_id: runId, job_id: job }) => (
        <AppLink
          to="/runs/$runId"
          params={{ runId }}
          search={{ job }}
          className="pl-mono"
        >
          {shortId(runId)}
        </AppLink>
      ),
    },
    {
      header: 'Counts',
      cell: ({ excluded }) => (excluded === null ? 'yes' : `no: ${excluded}`),
      wrap: true,
    },
    {
      header: 'Environment',
      cell: ({ environment }) =>
        page.environments[environment]?.change ?? 'the first',
      wrap: true,
    },
    { header: 'Conditions', cell: conditionsText, wrap: true },
  ];
}

export interface PointTableProps {
  page: SeriesPage;
  points: readonly SeriesPoint[];
  current: string | undefined;
}

export function PointTable({ page, points, current }: PointTableProps) {
  return (
    <DataTable
      label="Points"
      rows={points.toReversed()}
      rowKey={({ job_id: id }) => id}
      columns={columnsOf(page)}
      current={current}
    />
  );
}
