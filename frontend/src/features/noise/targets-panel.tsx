/** Shows which targets are noisy according to their ordinary jobs, which needs no A/A run. */
import { useQuery } from '@tanstack/react-query';

import { targetsNoiseQuery } from '../../api/noise';
import type { TargetNoise } from '../../api/types';
import { formatNumber, formatPercent } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Panel } from '../../ui/panel';
import { QueryView } from '../../ui/query-view';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TargetName } from '../../ui/target-name';

const COLUMNS: readonly Column<TargetNoise>[] = [
  {
    header: 'Target',
    breaks: true,
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName link id={id} name={name} />
    ),
  },
  {
    header: 'Scatter',
    align: 'right',
    cell: ({ scatter }) => `±${formatPercent(scatter)}`,
  },
  {
    header: 'Waited for a CPU',
    align: 'right',
    cell: ({ waiting_percent: waited }) =>
      waited === null ? 'not reported' : `${formatNumber(waited)} %`,
  },
  {
    header: 'Excluded jobs',
    align: 'right',
    cell: ({ jobs, excluded_jobs: excluded, excluded_share: share }) =>
      excluded === 0 ? (
        `none of ${jobs}`
      ) : (
        <Status
          look={{
            tone: 'unsure',
            icon: 'warning',
            word: `${excluded} of ${jobs} (${formatPercent(share)})`,
          }}
        />
      ),
  },
  {
    header: 'Runs',
    cell: ({ target_id: target, target_name: name }) => (
      <AppLink to="/runs" search={{ target }} aria-label={`Runs on ${name}`}>
        Runs
      </AppLink>
    ),
  },
];

export function TargetsPanel() {
  const noise = useQuery(targetsNoiseQuery);
  return (
    <Panel
      title="Targets, the noisiest first"
      flush
      about="By what ordinary runs on branches measured in the last two weeks. Scatter: how far a job’s median may be off. Waited for a CPU: the share of the time in which other programs kept the workload waiting. Excluded jobs count in no series: other programs, drift or heat disturbed them, or a check failed."
    >
      <QueryView query={noise} what="the targets by noise">
        {({ targets, days }) =>
          targets.length === 0 ? (
            <EmptyState icon="noise" title="Nothing measured lately">
              No run on a branch measured in the last {days} days. Any such run
              shows here how noisy its targets are.
            </EmptyState>
          ) : (
            <DataTable
              label="Targets by noise"
              columns={COLUMNS}
              rows={targets}
              rowKey={({ target_id: id }) => id}
            />
          )
        }
      </QueryView>
    </Panel>
  );
}
