/** Who changed what, the newest first. Rows are only ever added, with the change they tell of. */
import { useQuery } from '@tanstack/react-query';

import { auditQuery, type AuditedKind } from '../../api/audit';
import { accountsQuery } from '../../api/session';
import type { AuditEntry } from '../../api/types';
import { compact } from '../../lib/search-values';
import { formatDateTime } from '../../lib/times';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { DetailLines } from '../../ui/detail-lines';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { PagedList } from '../../ui/paged-list';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import {
  AUDITED_KIND_LABELS,
  AUDITED_KINDS,
  type AuditSearch,
} from './audit-search';

export interface AuditPageProps {
  search: AuditSearch;
  onSearch: (search: AuditSearch) => void;
}

export function AuditPage({ search, onSearch }: AuditPageProps) {
  const entries = useQuery(auditQuery(search));
  const accounts = useQuery(accountsQuery);
  const { cursor, ...filters } = search;
  const set = (change: AuditSearch) =>
    onSearch(compact({ ...filters, ...change }));
  return (
    <Page
      title="Audit log"
      lead="Who changed what: kept with the change itself, never edited, never removed."
    >
      <FilterBar>
        <FilterSelect
          label="About"
          all="Anything"
          value={search.object_kind}
          options={AUDITED_KINDS.map((value) => ({
            value,
            label: AUDITED_KIND_LABELS[value],
          }))}
          onChange={(kind) =>
            set({ object_kind: kind as AuditedKind | undefined })
          }
        />
        <FilterSelect
          label="By"
          all="Anybody"
          value={search.actor}
          options={(accounts.data?.items ?? []).map(({ name }) => ({
            value: name,
            label: name,
          }))}
          onChange={(actor) => set({ actor })}
        />
      </FilterBar>
      <Panel
        title={
          Object.keys(filters).length > 0 ? 'Matching changes' : 'All changes'
        }
        flush
      >
        <PagedList
          query={entries}
          what="the audit log"
          one="change"
          icon="audit"
          filtered={Object.keys(filters).length > 0}
          onClear={() => onSearch({})}
          cursor={cursor}
          onCursor={(next) => set({ cursor: next })}
          empty={<NoEntries />}
        >
          {(rows) => (
            <DataTable
              label="Audit log"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ id }) => String(id)}
            />
          )}
        </PagedList>
      </Panel>
    </Page>
  );
}

function NoEntries() {
  return (
    <EmptyState icon="audit" title="Nobody has changed anything yet">
      Decisions about alerts, rules, schedules, targets and tokens appear here
      with who made them.
    </EmptyState>
  );
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    header: 'When',
    cell: ({ at }) => <time dateTime={at}>{formatDateTime(at)}</time>,
  },
  { header: 'Who', cell: ({ actor }) => actor },
  { header: 'What', cell: ({ words }) => words, wrap: true },
  { header: 'See', cell: (entry) => <ObjectLink entry={entry} /> },
  {
    header: 'Detail',
    cell: ({ detail }) => <DetailLines detail={detail} />,
    wrap: true,
  },
];

/** Kinds are the server's; one nobody knows here is shown as it is. */
function ObjectLink({
  entry: { object_kind: kind, object_id: id },
}: {
  entry: AuditEntry;
}) {
  if (kind === 'alert') {
    return (
      <AppLink to="/alerts/$alertId" params={{ alertId: id }}>
        alert
      </AppLink>
    );
  }
  if (kind === 'rule') {
    return (
      <AppLink to="/rules/$ruleId" params={{ ruleId: id }}>
        rule
      </AppLink>
    );
  }
  if (kind === 'target') {
    return (
      <AppLink to="/targets/$targetId" params={{ targetId: id }}>
        target
      </AppLink>
    );
  }
  return (
    <>
      {kind.replaceAll('_', ' ')} <span className="pl-mono">{id}</span>
    </>
  );
}
