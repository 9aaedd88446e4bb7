/** Usage policy advice of the small installation: right on the phone now, and wrong a week earlier. */
import type { PolicyAdvice } from '../api/types';
import { minutesAgo } from './fixtures';

const DAY = 24 * 60;

type Point = PolicyAdvice['warm']['points'][number];

function point(at: number, ratio: number, winner: Point['winner']): Point {
  return {
    at,
    ratio,
    lower: ratio - 0.02,
    upper: ratio + 0.02,
    fitted: ratio,
    winner,
    blocks: 100,
    launches: 5,
  };
}

const warm: PolicyAdvice['warm'] = {
  benchmark: 'ledger_batch',
  answer: 'from',
  value: 1870,
  lower: 1400,
  upper: 2300,
  confidence: 0.95,
  measured_from: 2000,
  smallest: 1000,
  largest: 10_000,
  monotone: true,
  reason: '',
  words: 'native wins from 1,870 fingerprints (95 %: 1,400–2,300)',
  points: [
    point(1000, 1.16, 'reference'),
    point(2000, 0.99, 'undecided'),
    point(5000, 0.9, 'arm'),
  ],
};

const warmup: PolicyAdvice['warmup'] = {
  rounds: 1,
  lower: 1,
  upper: 2,
  confidence: 0.95,
  margin_percent: 3,
  calls_per_round: 1,
  reason: '',
  words: 'after 1 warm-up round native is as fast as when warm',
  penalties: [
    { after: 0, penalty: 0.31 },
    { after: 1, penalty: 0.02 },
  ],
};

export function policyAdvice(change: Partial<PolicyAdvice> = {}): PolicyAdvice {
  return {
    id: 'advice-2',
    suite: 'hashing',
    policy: 'minimum_native_batch',
    params: {},
    target_id: 'target-2',
    target_name: 'pixel-8',
    in_force: { minimum: 2000, warmup_rounds: 1 },
    holds: true,
    run_id: 'run-done-1',
    job_id: 'job-phone',
    commit: '3f6c9b1d7e2a4c5580a1',
    measured_at: minutesAgo(DAY),
    description: 'From how many fingerprints on the native path is used.',
    benchmark: 'ledger_batch',
    arm: 'native',
    reference: 'fallback',
    metric: 'time',
    param: 'batch',
    unit: 'fingerprints',
    margin_percent: 3,
    warm,
    cold: {
      ...warm,
      value: 2600,
      lower: 2100,
      upper: 3300,
      words: 'native wins from 2,600 fingerprints',
    },
    warmup,
    why: 'The minimum in force lies in the interval, and one round is enough.',
    words:
      'On pixel-8 native wins from 1,870 fingerprints (95 %: 1,400–2,300) after 1 warm-up round; policy in ' +
      'force: from 2,000, after 1 warm-up round.',
    ...change,
  };
}

export const policies: PolicyAdvice[] = [policyAdvice()];

/** The newest first, as the server lists it. */
export const policyHistory: PolicyAdvice[] = [
  policyAdvice(),
  policyAdvice({
    id: 'advice-1',
    holds: false,
    measured_at: minutesAgo(8 * DAY),
    words:
      'On pixel-8 native wins from 3,100 fingerprints (95 %: 2,700–3,600) after 1 warm-up round.',
    why: 'From 2,000 fingerprints on native still loses.',
  }),
];
