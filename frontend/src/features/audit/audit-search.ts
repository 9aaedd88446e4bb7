/** Search values of the audit log. */
import type { ActorKind, AuditedKind, AuditFilters } from '../../api/audit';
import { instantValue, oneOf, textValue } from '../../lib/search-values';

/** `scope`: the log of the installation instead of the project's. */
export interface AuditSearch extends AuditFilters {
  scope?: 'installation' | undefined;
}

export const ACTOR_KIND_LABELS: Record<ActorKind, string> = {
  account: 'people',
  token: 'tokens',
  agent: 'agents',
  system: 'the system',
  anonymous: 'anonymous readers',
};

export const ACTOR_KINDS = Object.keys(ACTOR_KIND_LABELS) as ActorKind[];

export const AUDITED_KIND_LABELS: Record<AuditedKind, string> = {
  alert: 'alerts',
  rule: 'rules',
  schedule: 'schedules',
  benchmark: 'retired benchmarks',
  token: 'tokens',
  triage_batch: 'bulk triage',
  waiver: 'waivers',
  target: 'targets',
  import: 'imports',
  channel: 'channels',
  project: 'projects',
  member: 'members',
  account: 'accounts',
  agent: 'agents',
  suite: 'suites',
  enrolment_code: 'enrolment codes',
};

export const AUDITED_KINDS = Object.keys(AUDITED_KIND_LABELS) as AuditedKind[];

export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  return {
    object_kind: oneOf(search['object_kind'], AUDITED_KINDS),
    object_id: textValue(search['object_id']),
    actor: textValue(search['actor']),
    actor_kind: oneOf(search['actor_kind'], ACTOR_KINDS),
    from: instantValue(search['from']),
    to: instantValue(search['to']),
    scope: oneOf(search['scope'], ['installation']),
    cursor: textValue(search['cursor']),
  };
}
