/** Lists who changed what, newest first. A row is written with the change itself and never edited. */
import { useQuery } from '@tanstack/react-query';

import { auditQuery, type ActorKind, type AuditedKind } from '../../api/audit';
import { accountsQuery, may, sessionQuery } from '../../api/session';
import type { AuditEntry } from '../../api/types';
import { compact } from '../../lib/search-values';
import { formatDateTime } from '../../lib/times';
import { AppLink } from '../../ui/app-link';
import { DayFilter } from '../../ui/day-filter';
import { DataTable, type Column } from '../../ui/data-table';
import { DetailLines } from '../../ui/detail-lines';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { PagedList } from '../../ui/paged-list';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import {
  ACTOR_KIND_LABELS,
  ACTOR_KINDS,
  AUDITED_KIND_LABELS,
  AUDITED_KINDS,
  type AuditSearch,
} from './audit-search';

export interface AuditPageProps {
  search: AuditSearch;
  onSearch: (search: AuditSearch) => void;
}

export function AuditPage({ search, onSearch }: AuditPageProps) {
  const { cursor, scope, ...filters } = search;
  const session = useQuery(sessionQuery);
  const entries = useQuery(
    auditQuery(compact({ ...filters, cursor }), scope !== undefined),
  );
  const accounts = useQuery(accountsQuery);
  const set = (change: AuditSearch) =>
    onSearch(compact({ ...filters, scope, ...change }));
  return (
    <Page
      title="Audit log"
      about="Who changed what. Entries are never edited or removed."
    >
      <FilterBar dense>
        <FilterSelect
          label="Subject"
          all="All subjects"
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
          all="Anyone"
          value={search.actor}
          options={(accounts.data?.items ?? []).map(({ name }) => ({
            value: name,
            label: name,
          }))}
          onChange={(actor) => set({ actor })}
        />
        <FilterSelect
          label="Kind of author"
          all="Any kind"
          value={search.actor_kind}
          options={ACTOR_KINDS.map((value) => ({
            value,
            label: ACTOR_KIND_LABELS[value],
          }))}
          onChange={(kind) =>
            set({ actor_kind: kind as ActorKind | undefined })
          }
        />
        <DayFilter
          label="From"
          value={search.from}
          onChange={(from) => set({ from })}
        />
        <DayFilter
          label="Before"
          value={search.to}
          onChange={(to) => set({ to })}
        />
        {may(session.data, 'installation.admin') && (
          <FilterSelect
            label="Log of"
            all="This project"
            value={scope}
            options={[{ value: 'installation', label: 'The installation' }]}
            onChange={(value) =>
              set({ scope: value === undefined ? undefined : 'installation' })
            }
          />
        )}
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
          plural="changes"
          icon="audit"
          filtered={Object.keys(filters).length > 0}
          onClear={() => onSearch(compact({ scope }))}
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
    <EmptyState icon="audit" title="No changes yet">
      Decisions about alerts, rules, schedules, targets and tokens appear here.
    </EmptyState>
  );
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    header: 'When',
    cell: ({ at }) => <time dateTime={at}>{formatDateTime(at)}</time>,
  },
  { header: 'Who', cell: ({ actor }) => actor },
  { header: 'Change', cell: ({ words }) => words, wrap: true },
  { header: 'Link', cell: (entry) => <ObjectLink entry={entry} /> },
  {
    header: 'Details',
    cell: ({ detail }) => <DetailLines detail={detail} />,
    wrap: true,
  },
];

/** Links to a changed object; an object of a kind unknown here is shown without a link. */
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
