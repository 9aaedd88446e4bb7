/** Shows the newest runs and the noise floors of a target. */
import { useQuery } from '@tanstack/react-query';

import { noiseFloorsQuery } from '../../api/noise';
import { runsQuery } from '../../api/runs';
import type { NoiseFloor } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { formatPercent } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { RunsTable } from '../../ui/runs-table';
import { EmptyState } from '../../ui/states';
import { TimeAgo } from '../../ui/time-ago';
import classes from './targets.module.css';

/** Number of rows shown here; the pages of runs and noise have the rest. */
const MAX_SHOWN = 8;

export function RunsPanel({ targetId }: { targetId: string }) {
  const runs = useQuery(runsQuery({ target: targetId }));
  return (
    <Panel
      title="Runs"
      flush
      actions={
        <AppLink to="/runs" search={{ target: targetId }}>
          All runs on this target
        </AppLink>
      }
    >
      <QueryView query={runs} what="the runs" lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState icon="runs" title="No runs yet">
              Runs on this target appear here.
            </EmptyState>
          ) : (
            <RunsTable label="Runs" runs={items.slice(0, MAX_SHOWN)} brief />
          )
        }
      </QueryView>
    </Panel>
  );
}

const FLOORS: readonly Column<NoiseFloor>[] = [
  {
    header: 'Measurement',
    wrap: true,
    cell: ({ suite, benchmark, arm, metric, params }) => (
      <>
        {suite} / {benchmark}, {arm}
        <div className={classes.quiet}>
          {metric}, {paramsLabel(params)}
        </div>
      </>
    ),
  },
  {
    header: 'Noise floor',
    align: 'right',
    cell: ({ mde }) => formatPercent(mde),
  },
  { header: 'Summary', cell: ({ words }) => words, wrap: true },
  { header: 'Measured', cell: ({ measured_at: at }) => <TimeAgo at={at} /> },
];

export function NoisePanel({ targetId }: { targetId: string }) {
  const floors = useQuery(noiseFloorsQuery({ target: targetId }));
  return (
    <Panel
      title="Noise floor"
      flush
      about="The smallest effect that A/A runs can tell from noise here."
      actions={
        <AppLink to="/noise" search={{ target: targetId }}>
          All noise floors
        </AppLink>
      }
    >
      <QueryView query={floors} what="the noise floors" lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState icon="noise" title="Not measured yet">
              An A/A run on this target measures it. Rules with a smaller
              minimum effect are refused.
            </EmptyState>
          ) : (
            <DataTable
              label="Noise floors"
              rows={items.slice(0, MAX_SHOWN)}
              rowKey={({ id }) => id}
              columns={FLOORS}
            />
          )
        }
      </QueryView>
    </Panel>
  );
}
