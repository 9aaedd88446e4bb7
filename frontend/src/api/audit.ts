/** The audit log: who changed what. Rows are only ever added. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { operations } from './schema.gen';
import type { AuditEntry, Page } from './types';

export type AuditedKind = NonNullable<
  NonNullable<operations['list_audit']['parameters']['query']>['object_kind']
>;

export interface AuditFilters {
  object_kind?: AuditedKind | undefined;
  object_id?: string | undefined;
  actor?: string | undefined;
  cursor?: string | undefined;
}

export function auditQuery(filters: AuditFilters) {
  return queryOptions({
    queryKey: ['audit', filters],
    queryFn: ({ signal }): Promise<Page<AuditEntry>> =>
      unwrap(
        client.GET('/api/v1/audit', {
          signal,
          params: { query: { ...filters, limit: 50 } },
        }),
      ),
  });
}
