/** Records of the small installation: audit log, false alarms and noise floors. */
import type {
  AuditEntry,
  NoiseFloor,
  Overview,
  Schedule,
  Since,
  TargetsNoise,
} from '../api/types';
import { minutesAgo } from './fixtures';

export const falseAlarms: Overview['false_alarms'] = {
  days: 90,
  since: minutesAgo(90 * 24 * 60),
  opened: 41,
  vanished: 1,
  invalid: 1,
  share: 2 / 41,
  words:
    '2 of 41 alerts opened in the last 90 days were false (4.9 %): 1 vanished, 1 called invalid.',
};

/** Nothing is new; tests fill its lists. */
export const quietSince: Since = {
  since: minutesAgo(24 * 60),
  words: 'No changes, no flipped verdicts, no new alerts, no failed runs.',
  changes: [],
  flips: [],
  alerts: [],
  runs: [],
  more: [],
};

export const audit: AuditEntry[] = [
  {
    id: 3,
    at: minutesAgo(5),
    actor: 'Ada',
    actor_kind: 'account',
    action: 'update',
    object_kind: 'rule',
    object_id: 'rule-1',
    detail: { version: 2, min_effect: 0.05 },
    words: 'Ada saved version 2 of the rule hashing-native',
  },
  {
    id: 2,
    at: minutesAgo(50),
    actor: 'Grace',
    actor_kind: 'account',
    action: 'bulk',
    object_kind: 'triage_batch',
    object_id: 'batch-7',
    detail: { action: 'acknowledge', alerts: ['alert-2', 'alert-3'] },
    words: 'Grace decided about several alerts at once',
  },
  {
    id: 1,
    at: minutesAgo(900),
    actor: 'Ada',
    actor_kind: 'account',
    action: 'acknowledge',
    object_kind: 'alert',
    object_id: 'alert-3',
    detail: {},
    words: 'Ada acknowledged an alert',
  },
];

export function floorOf(change: Partial<NoiseFloor> = {}): NoiseFloor {
  return {
    id: 'floor-1',
    target_id: 'target-2',
    target_name: 'pixel-8',
    suite: 'hashing',
    benchmark: 'ledger_batch',
    arm: 'native',
    params: { batch: 1000 },
    metric: 'time',
    mde: 0.031,
    proposed_threshold: 0.035,
    lower: 0.994,
    upper: 1.008,
    blocks: 100,
    launches: 5,
    run_id: 'run-a-a',
    job_id: 'job-a-a',
    measured_at: minutesAgo(600),
    words: 'effects below 3.1 % are not resolved here',
    ...change,
  };
}

export const floors: NoiseFloor[] = [
  floorOf(),
  floorOf({
    id: 'floor-2',
    target_id: 'target-1',
    target_name: 'lab-host',
    mde: 0.008,
    proposed_threshold: 0.01,
    words: 'effects below 0.8 % are not resolved here',
  }),
];

export function scheduleOf(change: Partial<Schedule> = {}): Schedule {
  return {
    id: 'schedule-1',
    name: 'a-a-pixel',
    kind: 'a_a',
    suite: 'hashing',
    target_id: 'target-2',
    target_name: 'pixel-8',
    benchmarks: null,
    params: {},
    launches: 5,
    rounds: 20,
    min_time_ns: 1_000_000,
    suppress: [],
    every_s: 86_400,
    enabled: false,
    next_at: minutesAgo(-600),
    missed_at: null,
    missed_because: null,
    last_run_id: null,
    created_by: 'Ada',
    created_at: minutesAgo(3000),
    ...change,
  };
}

export const targetsNoise: TargetsNoise = {
  days: 14,
  targets: [
    {
      target_id: 'target-2',
      target_name: 'pixel-8',
      simulated: false,
      jobs: 8,
      excluded_jobs: 3,
      excluded_share: 3 / 8,
      scatter: 0.042,
      waiting_percent: null,
    },
    {
      target_id: 'target-1',
      target_name: 'lab-host',
      simulated: false,
      jobs: 14,
      excluded_jobs: 0,
      excluded_share: 0,
      scatter: 0.0061,
      waiting_percent: 0.4,
    },
  ],
};
