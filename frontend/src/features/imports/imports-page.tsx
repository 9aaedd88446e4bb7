/** Lists imported documents, and takes files of other tools from those who may import. */
import { useQuery } from '@tanstack/react-query';

import { importsQuery, type ImportFilters } from '../../api/imports';
import { may, sessionQuery } from '../../api/session';
import type { ImportedDocument } from '../../api/types';
import { formatInteger } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { CodeBox } from '../../ui/code-box';
import { DataTable, type Column } from '../../ui/data-table';
import { PagedList } from '../../ui/paged-list';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { TimeAgo } from '../../ui/time-ago';
import classes from './imports.module.css';
import { UploadPanel } from './upload-panel';

export interface ImportsPageProps {
  search: ImportFilters;
  onSearch: (search: ImportFilters) => void;
}

export function ImportsPage({ search, onSearch }: ImportsPageProps) {
  const session = useQuery(sessionQuery);
  const imports = useQuery(importsQuery(search));
  return (
    <Page
      title="Imports"
      about={
        'What other tools printed and measured: averages to compare with, and runs of their own. ' +
        'They get no verdict, and raise alerts only where their history is judged.'
      }
    >
      {may(session.data, 'imports.write') && <UploadPanel />}
      <Panel title="All imports" flush>
        <PagedList
          query={imports}
          what="the imports"
          plural="imports"
          icon="imports"
          lines={3}
          filtered={false}
          onClear={() => onSearch({})}
          cursor={search.cursor}
          onCursor={(cursor) =>
            onSearch(cursor === undefined ? {} : { cursor })
          }
          empty={<NoImports />}
        >
          {(rows) => (
            <DataTable
              label="Imports"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ id }) => id}
            />
          )}
        </PagedList>
      </Panel>
    </Page>
  );
}

const COLUMNS: readonly Column<ImportedDocument>[] = [
  {
    header: 'Document',
    wrap: true,
    cell: ({ id, title, source, format }) => (
      <>
        <AppLink to="/imports/$importId" params={{ importId: id }}>
          {title}
        </AppLink>
        <div className={classes.quiet}>
          {format}, {source}
        </div>
      </>
    ),
  },
  {
    header: 'Measured on',
    cell: ({ devices }) => devices.join(', ') || '–',
    wrap: true,
  },
  {
    header: 'Series or rows',
    cell: ({ row_count: rows }) => formatInteger(rows),
    align: 'right',
  },
  {
    header: 'Imported',
    cell: ({ imported_by: by, imported_at: at }) => (
      <>
        {by}, <TimeAgo at={at} />
      </>
    ),
  },
];

function NoImports() {
  return (
    <EmptyState
      icon="imports"
      title="No imports"
      action={
        <CodeBox
          text={`paceline import FILE --server ${window.location.origin}`}
        />
      }
    >
      Import the output of another tool from the command line, with a token that
      has the permission imports.write in PACELINE_TOKEN. Of a log, add the
      suite that declares its lines: --suite suite.toml.
    </EmptyState>
  );
}
