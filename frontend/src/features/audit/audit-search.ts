/** Search values of the audit log. */
import type { AuditedKind, AuditFilters } from '../../api/audit';
import { oneOf, textValue } from '../../lib/search-values';

export type AuditSearch = AuditFilters;

export const AUDITED_KIND_LABELS: Record<AuditedKind, string> = {
  alert: 'alerts',
  rule: 'rules',
  schedule: 'schedules',
  benchmark: 'retired benchmarks',
  token: 'tokens',
  triage_batch: 'bulk triage',
  target: 'targets',
  import: 'imports',
};

export const AUDITED_KINDS = Object.keys(AUDITED_KIND_LABELS) as AuditedKind[];

export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  return {
    object_kind: oneOf(search['object_kind'], AUDITED_KINDS),
    object_id: textValue(search['object_id']),
    actor: textValue(search['actor']),
    cursor: textValue(search['cursor']),
  };
}
