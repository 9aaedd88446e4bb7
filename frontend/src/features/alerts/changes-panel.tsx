/** Which series moved, where, and by how much; each leads to its history. */
import type { Finding } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { formatInteger } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable } from '../../ui/data-table';
import { Panel } from '../../ui/panel';
import { ROLE_WORDS } from './role-words';

export function ChangesPanel({ findings }: { findings: readonly Finding[] }) {
  return (
    <Panel title="In the history" note="The series that moved; open one to see its points." flush>
      <DataTable
        label="Changes in the history"
        rows={findings}
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Series',
            cell: ({ series_id: id, benchmark, arm, params }) => (
              <AppLink to="/series/$seriesId" params={{ seriesId: id ?? '' }}>
                {arm} in {benchmark}, {paramsLabel(params)}
              </AppLink>
            ),
          },
          { header: 'In words', cell: ({ words }) => words, wrap: true },
          { header: 'Points before', align: 'right', cell: (one) => points(one, 'n_before') },
          { header: 'after', align: 'right', cell: (one) => points(one, 'n_after') },
          { header: 'As', cell: ({ role }) => ROLE_WORDS[role] },
        ]}
      />
    </Panel>
  );
}

function points({ numbers }: Finding, name: 'n_before' | 'n_after'): string {
  const count = numbers?.[name];
  return typeof count === 'number' ? formatInteger(count) : '–';
}
