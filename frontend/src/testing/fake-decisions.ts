/** The fake server's state of rules, policy advice, bulk triage and schedules. */
import type {
  AlertDetail,
  AppliedRule,
  AuditEntry,
  BulkRequest,
  NoiseFloor,
  TargetsNoise,
  Overview,
  Orphans,
  PolicyAdvice,
  Replay,
  RuleDetail,
  RuleRequest,
  RuleVersion,
  Schedule,
  Since,
} from '../api/types';
import {
  audit,
  falseAlarms,
  floors,
  quietSince,
  scheduleOf,
  targetsNoise,
} from './fixtures-record';
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
  /** Every replay that was requested. */
  replays: { rule: RuleRequest; rule_id: string | null; days: number }[];
  orphans: Orphans;
  /** The rule that applies to every comparison of an arm with its reference. */
  appliedToArms: AppliedRule;
  policies: PolicyAdvice[];
  policyHistory: PolicyAdvice[];
  /** The smallest effect that can be distinguished from noise; rules with a smaller one are refused. */
  floor: number;
  /** Bulk decisions with the alerts as they were before. */
  bulk: { body: BulkRequest; before: AlertDetail[] }[];
  falseAlarms: Overview['false_alarms'];
  since: Since;
  /** The instants since which pages asked for news. */
  askedSince: string[];
  audit: AuditEntry[];
  floors: NoiseFloor[];
  targetsNoise: TargetsNoise;
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
    since: quietSince,
    askedSince: [],
    audit: [...audit],
    floors: [...floors],
    targetsNoise,
    schedules: [scheduleOf()],
  };
}
