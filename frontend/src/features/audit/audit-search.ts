/** Search values of the audit log. */
import type { AuditedKind, AuditFilters } from '../../api/audit';
import { oneOf, text } from '../../lib/search-values';

export type AuditSearch = AuditFilters;

export const AUDITED: Record<AuditedKind, string> = {
  alert: 'alerts',
  rule: 'rules',
  schedule: 'schedules',
  benchmark: 'retired benchmarks',
  token: 'tokens',
  triage_batch: 'bulk triage',
  target: 'targets',
  import: 'imports',
};

export const AUDITED_KINDS = Object.keys(AUDITED) as AuditedKind[];

export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  return {
    object_kind: oneOf(search['object_kind'], AUDITED_KINDS),
    object_id: text(search['object_id']),
    actor: text(search['actor']),
    cursor: text(search['cursor']),
  };
}
