/** Lists the segments of a series, each with its level and the reason why it begins. */
import type { Segment, SeriesPage } from '../../api/types';
import { formatDate } from '../../lib/times';
import { formatToStep, formatValue } from '../../lib/units';
import { DataTable } from '../../ui/data-table';
import { Panel } from '../../ui/panel';
import { unitAt } from './history-model';

export function LevelsPanel({ page }: { page: SeriesPage }) {
  const { segments } = page;
  if (segments.length === 0) return null;
  const range = ({ lower, upper, environment }: Segment) => {
    const step = (upper - lower) / 4;
    const unit = unitAt(page, environment);
    if (step <= 0) return formatValue(lower, unit);
    return `${formatToStep(lower, unit, step)} – ${formatToStep(upper, unit, step)}`;
  };
  return (
    <Panel
      title="Levels"
      flush
      about="A change of the environment, or of what the number means, always begins a new level."
    >
      <DataTable
        label="Levels"
        rows={segments.toReversed()}
        rowKey={({ start_job_id: id }) => id}
        columns={[
          { header: 'From', cell: ({ start_at: at }) => formatDate(at) },
          { header: 'To', cell: ({ stop_at: at }) => formatDate(at) },
          {
            header: 'Level',
            cell: ({ level, environment }) =>
              formatValue(level, unitAt(page, environment)),
            align: 'right',
          },
          { header: 'Range of points', cell: range, align: 'right' },
          { header: 'Points', cell: ({ points }) => points, align: 'right' },
          {
            header: 'Reason',
            cell: ({ starts_because: why }) => why,
            wrap: true,
          },
        ]}
      />
    </Panel>
  );
}
