/** Comparisons, findings and alerts of the small installation in fixtures.ts. */
import type {
  Alert,
  AlertDetail,
  AlertEvent,
  Comparison,
  Filter,
  Finding,
} from '../api/types';
import { ada, grace, minutesAgo } from './fixtures';

const size = (batch: number) => batch.toLocaleString('en-GB');

const PASSING: readonly (readonly [number, number, number, number])[] = [
  [1000, 0.742, 0.721, 0.763],
  [2000, 0.664, 0.651, 0.679],
  [5000, 0.598, 0.59, 0.607],
  [10_000, 0.571, 0.566, 0.577],
];

export function comparison(change: Partial<Comparison> = {}): Comparison {
  return {
    benchmark: 'ledger_batch',
    params: { batch: 1000 },
    metric: 'time',
    arm: 'native',
    reference: 'fallback',
    launches: 5,
    blocks: 100,
    ratio: 0.742,
    lower: 0.721,
    upper: 0.763,
    share_slower: 0,
    verdict: 'pass',
    reason: 'The whole interval lies below the margin.',
    words: 'native is 25.8 % faster than fallback at batch 1,000',
    margin_percent: 2,
    launch_ratios: [0.74, 0.75, 0.73, 0.74, 0.75],
    run_id: 'run-done-1',
    job_id: 'job-1',
    target_id: 'target-1',
    target_name: 'lab-host',
    measured_at: minutesAgo(58),
    demonstration: false,
    sides: 'arms',
    decides: true,
    extra_percent: 0,
    launches_needed: null,
    waived: null,
    witness: null,
    ...change,
  };
}

export const comparisons: Comparison[] = PASSING.map(
  ([batch, ratio, lower, upper]) =>
    comparison({
      params: { batch },
      ratio,
      lower,
      upper,
      words: `native is ${((1 - ratio) * 100).toFixed(1)} % faster than fallback at batch ${size(batch)}`,
    }),
);

export const phoneComparisons: Comparison[] = PASSING.map(
  ([batch, ratio, lower, upper], index) =>
    comparison({
      params: { batch },
      ratio: ratio + 0.42 - index * 0.05,
      lower: lower + 0.38 - index * 0.05,
      upper: upper + 0.46 - index * 0.05,
      verdict: index === 0 ? 'fail' : index === 1 ? 'inconclusive' : 'pass',
      target_id: 'target-2',
      target_name: 'pixel-8',
      share_slower: index === 0 ? 0.97 : 0.4,
      job_id: 'job-phone',
      margin_percent: 3,
      reason: index === 1 ? 'The interval crosses the margin.' : 'Decided.',
      words:
        index === 0
          ? 'native is 16.2 % slower than fallback at batch 1,000'
          : `native against fallback at batch ${size(batch)}: ${index === 1 ? 'too close to say' : 'faster'}`,
    }),
);

const FILTERS: Filter[] = [
  {
    name: 'p_slow',
    value: 7.9e-31,
    limit: 0.001,
    passed: true,
    text: 'All 100 blocks lie beyond the margin; chance alone does this less than once in a thousand.',
  },
  {
    name: 'launch_medians',
    value: 5,
    limit: 4,
    passed: true,
    text: '5 of 5 launches agree; 4 are needed.',
  },
  {
    name: 'blocks',
    value: 100,
    limit: 30,
    passed: true,
    text: '100 blocks; at least 30 are needed.',
  },
];

export function finding(change: Partial<Finding> = {}): Finding {
  return {
    id: 'finding-1',
    kind: 'arm_slower',
    role: 'candidate',
    run_id: 'run-demo-1',
    job_id: 'job-demo',
    series_id: null,
    change_id: null,
    sides: 'arms',
    benchmark: 'ledger_batch',
    arm: 'native',
    metric: 'time',
    numbers: null,
    params: { batch: 1000 },
    verdict: 'fail',
    reason: 'slower',
    ratio: 1.189,
    lower: 1.171,
    upper: 1.21,
    words: 'native is 18.9 % slower than fallback at batch 1,000',
    share_slower: 1,
    launches: 5,
    blocks: 100,
    method: 'paired sign test',
    parameters: { margin: 0.02, alpha: 0.001 },
    filters: FILTERS,
    window: { launches: [0, 1, 2, 3, 4], rounds: [5, 24] },
    created_at: minutesAgo(36),
    ...change,
  };
}

const HISTORY: AlertEvent[] = [
  {
    id: 'event-1',
    at: minutesAgo(36),
    actor: 'Paceline',
    action: 'suspected',
    from_state: null,
    to_state: 'suspected',
    note: null,
  },
  {
    id: 'event-2',
    at: minutesAgo(30),
    actor: 'Paceline',
    action: 'confirmed',
    from_state: 'suspected',
    to_state: 'open',
    note: 'Seen again in a new session.',
  },
];

export function alert(change: Partial<Alert> = {}): Alert {
  return {
    id: 'alert-1',
    title: 'native slower than fallback in ledger_batch on lab-host',
    state: 'open',
    kind: 'arm_slower',
    cause: null,
    base_commit: null,
    head_commit: null,
    culprit: null,
    baseline_commit: null,
    shadow: false,
    rule_id: null,
    rule_name: 'native-slower-than-fallback',
    due_at: null,
    overdue: false,
    issue_url: null,
    suite: 'hashing',
    benchmark: 'ledger_batch',
    arm: 'native',
    reference: 'fallback',
    metric: 'time',
    target_id: 'target-1',
    target_name: 'lab-host',
    demonstration: true,
    words:
      'native is 18.9 % slower than fallback at batch 1,000, and at 3 more points',
    ratio: 1.189,
    lower: 1.171,
    upper: 1.21,
    assignee: null,
    created_at: minutesAgo(36),
    updated_at: minutesAgo(30),
    run_id: 'run-demo-1',
    confirmation_run_id: 'run-confirm-1',
    ...change,
  };
}

export function alertDetail(summary: Alert = alert()): AlertDetail {
  const points = [1000, 2000, 5000, 10_000].flatMap((batch, index) => [
    finding({
      id: `candidate-${batch}`,
      params: { batch },
      ratio: 1.189 - index * 0.02,
      lower: 1.171 - index * 0.02,
      upper: 1.21 - index * 0.02,
    }),
    finding({
      id: `confirmation-${batch}`,
      role: 'confirmation',
      params: { batch },
      ratio: 1.182 - index * 0.02,
      lower: 1.166 - index * 0.02,
      upper: 1.199 - index * 0.02,
      run_id: 'run-confirm-1',
      job_id: 'job-confirm',
    }),
  ]);
  return {
    ...summary,
    rule: {
      name: 'native-slower-than-fallback',
      version: 1,
      text: 'The native arm must not be slower than the fallback by more than 2 %.',
    },
    mute: null,
    can_be_muted: true,
    explanation:
      'In 100 of 100 paired blocks of one job the native arm took longer than the fallback by more than ' +
      'the margin of 2 %, in all five launches. A second session 30 seconds later showed the same.',
    cause_text: null,
    findings: points,
    bisection: null,
    imported: false,
    history: HISTORY,
    actions:
      summary.state === 'open'
        ? ['acknowledge', 'fixed', 'expected', 'invalid', 'infra']
        : summary.state === 'acknowledged'
          ? ['fixed', 'expected', 'invalid', 'infra']
          : ['reopen'],
  };
}

export const alerts: Alert[] = [
  alert(),
  alert({
    id: 'alert-2',
    title: 'native slower than fallback in ledger_batch on pixel-8',
    target_id: 'target-2',
    target_name: 'pixel-8',
    demonstration: false,
    words: 'native is 16.2 % slower than fallback at batch 1,000',
    ratio: 1.162,
    lower: 1.101,
    upper: 1.223,
    created_at: minutesAgo(3000),
    assignee: grace,
  }),
  alert({
    id: 'alert-3',
    title: 'crc32 native slower than fallback in frame_check on lab-host',
    benchmark: 'frame_check',
    demonstration: false,
    state: 'acknowledged',
    assignee: ada,
    words: 'native is 4.1 % slower than fallback at size 4,096',
    ratio: 1.041,
    lower: 1.032,
    upper: 1.05,
    created_at: minutesAgo(9000),
  }),
];
