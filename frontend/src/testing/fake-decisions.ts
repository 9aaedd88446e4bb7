/** What people decide with, as the fixture API holds it: rules, advice, and what was asked of them. */
import type {
  AlertDetail,
  AppliedRule,
  AuditEntry,
  BulkRequest,
  NoiseFloor,
  Overview,
  Orphans,
  PolicyAdvice,
  Replay,
  RuleDetail,
  RuleRequest,
  RuleVersion,
  Schedule,
} from '../api/types';
import { audit, falseAlarms, floors, scheduleOf } from './fixtures-record';
import { policies, policyHistory } from './fixtures-policies';
import {
  appliedToArms,
  orphans,
  replayed,
  rules,
  versions,
} from './fixtures-rules';

export interface FakeDecisions {
  rules: RuleDetail[];
  versions: RuleVersion[];
  replay: Replay;
  /** Every replay that was asked for. */
  replays: { rule: RuleRequest; rule_id: string | null; days: number }[];
  orphans: Orphans;
  /** What decides about an arm against its reference, whichever it is. */
  appliedToArms: AppliedRule;
  policies: PolicyAdvice[];
  policyHistory: PolicyAdvice[];
  /** What saving a rule below it is refused with: the least effect that can be told from noise. */
  floor: number;
  /** Bulk decisions with what was before. */
  bulk: { body: BulkRequest; before: AlertDetail[] }[];
  falseAlarms: Overview['false_alarms'];
  audit: AuditEntry[];
  floors: NoiseFloor[];
  schedules: Schedule[];
}

export function createFakeDecisions(): FakeDecisions {
  return {
    rules: [...rules],
    versions: [...versions],
    replay: replayed,
    replays: [],
    orphans,
    appliedToArms,
    policies: [...policies],
    policyHistory: [...policyHistory],
    floor: 0.031,
    bulk: [],
    falseAlarms,
    audit: [...audit],
    floors: [...floors],
    schedules: [scheduleOf()],
  };
}
