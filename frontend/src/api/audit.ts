/** Requests about the audit log: who changed what. */
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

/** Returns the query of the project's log, or of the installation's: what belongs to no project, such as sign-ins. */
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
