/** Rules of the small installation: an active one with several versions and a mute, and one in shadow. */
import type {
  AppliedRule,
  Orphans,
  Replay,
  Rule,
  RuleDetail,
  RuleVersion,
  ShippedRule,
} from '../api/types';
import { ada, grace, minutesAgo } from './fixtures';

const DAY = 24 * 60;

function sentenceAbout(effect: string): string {
  return `Time of any benchmark (arm native, suite hashing) gets worse by ${effect} or more and stays so.`;
}

export function ruleVersion(change: Partial<RuleVersion> = {}): RuleVersion {
  return {
    version: 2,
    kind: 'history',
    suite: 'hashing',
    benchmark: '*',
    arm: 'native',
    metric: 'time',
    target: '*',
    min_effect: 0.05,
    direction: 'worse',
    mode: 'active',
    period_hours: null,
    text: sentenceAbout('5 %'),
    comment: 'Three percent fired on every firmware update.',
    owner: ada,
    created_by: 'Ada',
    created_at: minutesAgo(2 * DAY),
    ...change,
  };
}

export function rule(change: Partial<RuleDetail> = {}): RuleDetail {
  return {
    ...ruleVersion(),
    id: 'rule-1',
    name: 'hashing-native',
    mute: null,
    precision: {
      worth_it: 7,
      false: 1,
      undecided: 2,
      share: 0.875,
      words: '7 of 8 alerts were worth it (88 %).',
    },
    floor: {
      mde: 0.031,
      suite: 'hashing',
      benchmark: 'ledger_batch',
      arm: 'native',
      metric: 'time',
      params: { batch: 1000 },
      target_id: 'target-2',
      target_name: 'pixel-8',
      measured_at: minutesAgo(DAY),
      words: 'at least 3.1 % on pixel-8',
    },
    mutes: [
      {
        id: 'mute-0',
        reason: 'the lab was moved',
        until: minutesAgo(9 * DAY),
        muted_by: 'Grace',
        created_at: minutesAgo(10 * DAY),
        ended_at: null,
      },
    ],
    ...change,
  };
}

/** Returns a rule as the list of rules has it. */
export function brief({
  floor: _floor,
  mutes: _mutes,
  ...listed
}: RuleDetail): Rule {
  return listed;
}

export const rules: RuleDetail[] = [
  rule(),
  rule({
    id: 'rule-2',
    name: 'phone-tries',
    version: 1,
    mode: 'shadow',
    target: 'pixel-*',
    min_effect: 0.035,
    owner: grace,
    text: 'Anything on the phones, tried out.',
    comment: '',
    precision: {
      worth_it: 0,
      false: 0,
      undecided: 1,
      share: null,
      words: 'No alert of this rule has been judged yet.',
    },
    floor: null,
    mutes: [],
  }),
];

export const versions: RuleVersion[] = [
  ruleVersion(),
  ruleVersion({
    version: 1,
    min_effect: 0.03,
    text: sentenceAbout('3 %'),
    comment: '',
    owner: null,
    created_at: minutesAgo(30 * DAY),
  }),
];

export const replayed: Replay = {
  days: 30,
  fired: 14,
  findings_total: 2,
  by_target: [
    { target_id: 'target-1', target_name: 'lab-host', fired: 12 },
    { target_id: 'target-2', target_name: 'pixel-8', fired: 2 },
  ],
  words: 'In the last 30 days it would have fired 14×, 12 on lab-host.',
  findings: [
    {
      at: minutesAgo(DAY),
      commit: '3f6c9b1d7e2a4c5580a1',
      suite: 'hashing',
      benchmark: 'ledger_batch',
      arm: 'native',
      metric: 'time',
      params: { batch: 1000 },
      target_id: 'target-1',
      target_name: 'lab-host',
      effect: 0.061,
      words: 'time got 6.1 % slower',
      alert_id: 'alert-1',
      alert_state: 'open',
    },
    {
      at: minutesAgo(3 * DAY),
      commit: '77aa9b1d7e2a4c5580a1',
      suite: 'hashing',
      benchmark: 'ledger_batch',
      arm: 'native',
      metric: 'time',
      params: { batch: 5000 },
      target_id: 'target-2',
      target_name: 'pixel-8',
      effect: 0.052,
      words: 'time got 5.2 % slower',
      alert_id: null,
      alert_state: null,
    },
  ],
};

export const shippedRules: ShippedRule[] = [
  {
    suite: 'hashing',
    name: 'native-slower-than-fallback',
    kind: 'arm_slower',
    text: 'The native arm must not be slower than the fallback by more than 2 %.',
    benchmark: 'ledger_batch',
    arms: ['native'],
    metric: 'time',
  },
  {
    suite: null,
    name: 'default-history',
    kind: 'history',
    text: 'A measurement got worse by 3.0 % or more and stayed so.',
    benchmark: null,
    arms: [],
    metric: null,
  },
];

export const orphans: Orphans = {
  living_days: 30,
  rules: [
    {
      rule_id: 'rule-2',
      name: 'phone-tries',
      reason: 'Nothing it matches was measured in 30 days.',
    },
  ],
  unruled: [
    {
      suite: 'hashing',
      benchmark: 'frame_check',
      arm: 'native',
      metric: 'time',
      target_id: 'target-1',
      target_name: 'lab-host',
      series: 4,
    },
  ],
  unruled_total: 1,
  words:
    '1 rule decides about nothing; 1 measurement has the built-in default only.',
};

/** The answer of the server if no rule of that kind is stored. */
export const appliedToArms: AppliedRule = {
  rule_id: null,
  version: null,
  name: 'as-shipped',
  text: "The rules of the suite's manifest apply as shipped.",
  kind: 'arm_slower',
  min_effect: 0,
  direction: 'worse',
  mode: 'active',
  muted: null,
};
