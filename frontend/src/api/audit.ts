/** The audit log: who changed what. Rows are only ever added. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { operations } from './schema.gen';
import type { AuditEntry, Page } from './types';

export type AuditedKind = NonNullable<
  NonNullable<operations['list_audit']['parameters']['query']>['object_kind']
>;

export type ActorKind = AuditEntry['actor_kind'];

export interface AuditFilters {
  object_kind?: AuditedKind | undefined;
  object_id?: string | undefined;
  actor?: string | undefined;
  actor_kind?: ActorKind | undefined;
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
}

/** Of the project, or (`ofInstallation`) of what belongs to none, such as accounts and sign-ins. */
export function auditQuery(filters: AuditFilters, ofInstallation: boolean) {
  return queryOptions({
    queryKey: ['audit', ofInstallation, filters],
    queryFn: ({ signal }): Promise<Page<AuditEntry>> => {
      const options = { signal, params: { query: { ...filters, limit: 50 } } };
      return unwrap(
        ofInstallation
          ? client.GET('/api/v1/installation/audit', options)
          : client.GET('/api/v1/audit', options),
      );
    },
  });
}
