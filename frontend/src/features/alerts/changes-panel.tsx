/** Lists the series that changed, at which commit and by how much, with links to their history. */
import type { Finding } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { formatInteger } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable } from '../../ui/data-table';
import { Panel } from '../../ui/panel';
import classes from './alerts.module.css';
import { FINDING_ROLES } from './finding-roles';

export function ChangesPanel({ findings }: { findings: readonly Finding[] }) {
  return (
    <Panel
      title="Changes"
      about="Series whose level changed. Open one to see its points."
      flush
    >
      <DataTable
        label="Changes in the history"
        rows={findings}
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Series',
            wrap: true,
            cell: ({ series_id: id, benchmark, arm, params, role }) => (
              <>
                <AppLink to="/series/$seriesId" params={{ seriesId: id ?? '' }}>
                  {arm} in {benchmark}, {paramsLabel(params)}
                </AppLink>
                <div className={classes.when}>{FINDING_ROLES[role]}</div>
              </>
            ),
          },
          { header: 'Summary', cell: ({ words }) => words, wrap: true },
          {
            header: 'Points',
            cell: (finding) =>
              `${points(finding, 'n_before')} before, ${points(finding, 'n_after')} after`,
          },
        ]}
      />
    </Panel>
  );
}

function points({ numbers }: Finding, name: 'n_before' | 'n_after'): string {
  const count = numbers?.[name];
  return typeof count === 'number' ? formatInteger(count) : '–';
}
