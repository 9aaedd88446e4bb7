/** An alert about a step in a series that an A/B run confirmed, and a bisection that found its commit. */
import type {
  AlertDetail,
  Bisection,
  Culprit,
  Explanation,
  Finding,
  JobReport,
} from '../api/types';
import { minutesAgo, run } from './fixtures';
import { alert, alertDetail, comparison, finding } from './fixtures-decisions';
import { report } from './fake-backend';

const AUTHORS = ['Ada', 'Grace', 'Edsger'] as const;
const SUBJECTS = [
  'Sort the batch before it is hashed',
  'Name the buffers',
  'Read four blocks at once',
  'Say in the manifest what a batch is',
] as const;

const hash = (index: number) =>
  (index + 17).toString(16).repeat(20).slice(0, 40);

export const BASE_COMMIT = 'b0'.repeat(20);

export const commits: Bisection['commits'] = Array.from(
  { length: 12 },
  (_, index) => ({
    commit: hash(index),
    author: AUTHORS[index % AUTHORS.length] ?? 'Ada',
    at: minutesAgo(2880 - index * 60),
    subject: SUBJECTS[index % SUBJECTS.length] ?? '',
  }),
);

const HEAD_COMMIT = hash(11);

export const culprit: Culprit = {
  ...(commits[6] as Bisection['commits'][number]),
  ratio: 1.061,
  lower: 1.052,
  upper: 1.071,
};

type Step = Bisection['steps'][number];

function step(
  index: number | null,
  verdict: Step['verdict'],
  ratio: number | null,
): Step {
  return {
    index,
    commit: index === null ? HEAD_COMMIT : hash(index),
    run_id: `run-bisect-${index ?? 'head'}`,
    job_id: `job-bisect-${index ?? 'head'}`,
    verdict,
    ratio,
    lower: ratio === null ? null : ratio - 0.01,
    upper: ratio === null ? null : ratio + 0.01,
    words:
      ratio === null
        ? ''
        : `${((ratio - 1) * 100).toFixed(1)} % slower than the base`,
  };
}

export function bisection(change: Partial<Bisection> = {}): Bisection {
  return {
    id: 'bisection-1',
    state: 'running',
    base_commit: BASE_COMMIT,
    commits,
    good: 2,
    bad: 8,
    left: 6,
    budget: 6,
    used: 4,
    steps: [
      step(null, 'fail', 1.06),
      step(2, 'pass', 1.001),
      step(8, 'fail', 1.062),
      step(5, null, null),
    ],
    culprit: null,
    words: `Searching (4 of at most 6 A/B jobs): the commit is one of 6, after ${hash(2).slice(0, 10)}.`,
    created_at: minutesAgo(50),
    updated_at: minutesAgo(2),
    ...change,
  };
}

export function foundBisection(): Bisection {
  return bisection({
    state: 'found',
    good: 5,
    bad: 6,
    left: 1,
    used: 6,
    steps: [
      step(null, 'fail', 1.06),
      step(2, 'pass', 1.001),
      step(8, 'fail', 1.062),
      step(5, 'pass', 1.002),
      step(7, 'skipped', null),
      step(6, 'fail', 1.061),
    ],
    culprit,
    words: `Found after 6 of at most 6 A/B jobs: ${culprit.commit.slice(0, 10)}: 6.1 % slower.`,
  });
}

const STEP_FILTERS: Finding['filters'] = [
  {
    name: 'points_after',
    value: 3,
    limit: 4,
    passed: false,
    text: '3 points after it, at least 4 asked for',
  },
  {
    name: 'effect',
    value: 0.061,
    limit: 0.015,
    passed: true,
    text: 'the level moved by 6.1 %, at least 1.5 % asked for',
  },
];

const CANDIDATE = finding({
  id: 'change-candidate',
  kind: 'history',
  run_id: 'run-done-1',
  job_id: 'job-1',
  series_id: 'series-1',
  change_id: 'change-1',
  sides: null,
  verdict: null,
  reason: '',
  ratio: 1.063,
  lower: 1.041,
  upper: 1.084,
  share_slower: null,
  launches: null,
  blocks: null,
  words:
    '6.3 % slower: 205 µs → 218 µs (99 % interval: 4.1 % slower to 8.4 % slower)',
  numbers: {
    level_before: 205_000,
    level_after: 218_000,
    n_before: 41,
    n_after: 3,
  },
  method: 'posterior over levels',
  parameters: { history: { least_effect: 0.03 } },
  filters: STEP_FILTERS,
  window: { points: 44, first: 'job-1', last: 'job-44' },
  created_at: minutesAgo(90),
});

const AB = finding({
  id: 'change-confirmation',
  kind: 'history',
  role: 'confirmation',
  run_id: 'run-ab-1',
  job_id: 'job-ab',
  sides: 'revisions',
  ratio: 1.061,
  lower: 1.052,
  upper: 1.071,
  words: 'head is 6.1 % slower than base at batch 1,000',
  created_at: minutesAgo(60),
});

export function changeAlert(change: Partial<AlertDetail> = {}): AlertDetail {
  const summary = alert({
    id: 'alert-history',
    title: 'native in ledger_batch at batch=1,000 got slower on lab-host',
    kind: 'history',
    cause: 'code',
    base_commit: BASE_COMMIT,
    head_commit: HEAD_COMMIT,
    reference: 'base',
    demonstration: false,
    words:
      'native in ledger_batch at batch=1,000: 6.3 % slower: 205 µs → 218 µs',
    ratio: 1.063,
    lower: 1.041,
    upper: 1.084,
    run_id: 'run-done-1',
    confirmation_run_id: 'run-ab-1',
    created_at: minutesAgo(90),
  });
  return {
    ...alertDetail(summary),
    explanation:
      'On lab-host, native in ledger_batch at batch=1,000, is 6.3 % slower, in 44 points of one series: ' +
      '41 at the level before, 3 after. Old and new revision, interleaved in one job on the same target, ' +
      'say: 6.1 % slower.',
    cause_text:
      'the artifact changed, the target did not, and pixel-8 moved with it',
    findings: [CANDIDATE, AB],
    bisection: bisection(),
    ...change,
  };
}

/** Makes the explanation of an alert from its findings, as the server does. */
export function explanation(of: AlertDetail, again: boolean): Explanation {
  return {
    alert_id: of.id,
    kind: of.kind,
    state: of.state,
    title: of.title,
    sentence: of.explanation,
    cause: of.cause,
    cause_text: of.cause_text,
    rule: `${of.rule.name}, version ${of.rule.version}: ${of.rule.text}`,
    findings: of.findings.map((source) => ({
      id: source.id,
      kind: source.kind,
      role: source.role,
      where: `${source.arm} in ${source.benchmark} at batch=${Number(source.params['batch']).toLocaleString('en-GB')}`,
      words: source.words,
      filters: source.filters,
      window: {
        text:
          source.series_id === null
            ? '100 rounds of both sides in 5 launches of one job'
            : '44 points of one series',
        points: source.series_id === null ? null : 44,
        launches: source.launches,
        blocks: source.blocks,
        first_at: source.series_id === null ? null : minutesAgo(90_000),
        last_at: source.series_id === null ? null : minutesAgo(90),
      },
      segments:
        source.series_id === null
          ? []
          : [
              {
                first_at: minutesAgo(90_000),
                change: 'time is in ns since 0123456789ab, in bytes before',
              },
            ],
      method: source.method,
      parameters: source.parameters,
      created_at: source.created_at,
      rederived: again
        ? {
            identical: true,
            text: 'Made again from stored samples: every number is the same.',
            numbers: {},
          }
        : null,
    })),
  };
}

/** Makes the report of the A/B job: one comparison of revisions, and the measurements of both. */
export function abReport(): JobReport {
  const plain = report(run());
  const measurement = plain.measurements.find(({ arm }) => arm === 'native');
  const side = (name: 'base' | 'head', median: number) => ({
    ...(measurement as JobReport['measurements'][number]),
    params: { batch: 1000 },
    side: name,
    median,
    median_lower: median * 0.995,
    median_upper: median * 1.005,
  });
  return {
    ...plain,
    base: {
      revision: BASE_COMMIT,
      artifact_hash: 'ba'.repeat(32),
      same_artifact: false,
    },
    measurements: [side('base', 205_000), side('head', 217_500)],
    comparisons: [
      comparison({
        sides: 'revisions',
        reference: 'base',
        ratio: 1.061,
        lower: 1.052,
        upper: 1.071,
        verdict: 'fail',
        launch_ratios: [1.059, 1.061, 1.064, 1.058, 1.067],
        job_id: 'job-ab',
        run_id: 'run-ab-1',
      }),
    ],
  };
}
