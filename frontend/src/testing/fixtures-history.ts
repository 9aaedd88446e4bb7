/**
 * History of the small installation in fixtures.ts: a series of 60 nights with a new kernel after 20, a step of
 * 14.2 % at 45 and one excluded night, with its sentences; two revisions side by side; a run's missing cases.
 */
import type {
  Change,
  Compare,
  CompareRow,
  Completeness,
  ArmStandingRow,
  ArmStandings,
  Matrix,
  MatrixCell,
  Segment,
  Series,
  SeriesPage,
  SeriesPoint,
} from '../api/types';
import { minutesAgo } from './fixtures';

const NIGHTS = 60;
const KERNEL_AT = 20;
const STEP_AT = 45;
const EXCLUDED_AT = 33;
const NIGHT_MIN = 1440;
const LEVEL = 1_200_000;
const AFTER = 1_370_400;

export const nightOf = (index: number) =>
  minutesAgo((NIGHTS - index) * NIGHT_MIN);
const commitOf = (index: number) =>
  (0xa1b2c3d4 + index * 7919).toString(16).padEnd(40, '0');

function value(index: number): number {
  const wave =
    1 + 0.004 * Math.sin(index * 2.3) + 0.003 * Math.cos(index * 5.1);
  return (
    (index >= STEP_AT ? AFTER : LEVEL) *
    wave *
    (index === EXCLUDED_AT ? 1.3 : 1)
  );
}

export const historyPoints: SeriesPoint[] = Array.from(
  { length: NIGHTS },
  (_, index) => ({
    job_id: `job-night-${index}`,
    run_id: `run-night-${index}`,
    at: nightOf(index),
    commit: commitOf(index),
    artifact_hash: 'ab'.repeat(32),
    value: value(index),
    lower: value(index) * 0.994,
    upper: value(index) * 1.006,
    n: 100,
    launches: 5,
    excluded:
      index === EXCLUDED_AT
        ? 'conditions void: CPU pressure 31 %, the limit is 10 %'
        : null,
    environment: index < KERNEL_AT ? 0 : 1,
    conditions: {
      load: { median: 0.3 + (index % 7) * 0.05, max: 0.9 },
      temperature_c: { median: 51 + (index % 5), max: 58 },
    },
  }),
);

export function series(change: Partial<Series> = {}): Series {
  return {
    id: 'series-1',
    title: null,
    suite: 'hashing',
    benchmark: 'ledger_batch',
    arm: 'native',
    params: { batch: 1000 },
    metric: 'time',
    unit: 'ns',
    direction: 'lower',
    target_id: 'target-1',
    target_name: 'lab-host',
    imported: false,
    branch: 'main',
    points: NIGHTS,
    value: value(NIGHTS - 1),
    at: nightOf(NIGHTS - 1),
    commit: commitOf(NIGHTS - 1),
    changes: { standing: 1 },
    ...change,
  };
}

export function changeOf(change: Partial<Change> = {}): Change {
  return {
    id: 'change-1',
    series_id: 'series-1',
    state: 'standing',
    job_id: `job-night-${STEP_AT}`,
    run_id: `run-night-${STEP_AT}`,
    at: nightOf(STEP_AT),
    before_commit: commitOf(STEP_AT - 1),
    commit: commitOf(STEP_AT),
    location_first: `job-night-${STEP_AT}`,
    location_last: `job-night-${STEP_AT}`,
    direction: 'slower',
    level_before: LEVEL,
    level_after: AFTER,
    effect: 0.142,
    lower: 0.134,
    upper: 0.15,
    p_value: 1e-9,
    n_before: 24,
    n_after: 15,
    evaluations: 11,
    cause: 'code',
    cause_text: 'The artifact changed and the environment did not.',
    words: '14.2 % slower: 1.2 ms → 1.37 ms',
    interval_words: '13.4 % to 15.0 % slower',
    method: 'posterior over levels',
    filters: [
      { name: 'effect', value: 0.142, limit: 0.03, passed: true },
      { name: 'p_value', value: 1e-9, limit: 0.001, passed: true },
    ],
    alert_id: 'alert-1',
    found_at: nightOf(STEP_AT + 2),
    updated_at: nightOf(NIGHTS - 1),
    ...change,
  };
}

function segment(
  start: number,
  stop: number,
  level: number,
  because: string,
): Segment {
  return {
    start_job_id: `job-night-${start}`,
    stop_job_id: `job-night-${stop}`,
    start_at: nightOf(start),
    stop_at: nightOf(stop),
    points: stop - start + 1,
    level,
    lower: level * 0.985,
    upper: level * 1.015,
    environment: start < KERNEL_AT ? 0 : 1,
    starts_because: because,
  };
}

const ENVIRONMENTS: SeriesPage['environments'] = [
  {
    index: 0,
    fingerprint: '4a'.repeat(32),
    factors: { kernel: '6.1.0-12', cpu_model: 'EPYC 9354' },
    first_at: nightOf(0),
    change: null,
    unit: 'ns',
  },
  {
    index: 1,
    fingerprint: '4b'.repeat(32),
    factors: { kernel: '6.1.0-13', cpu_model: 'EPYC 9354' },
    first_at: nightOf(KERNEL_AT),
    change: 'kernel 6.1.0-12 → 6.1.0-13',
    unit: 'ns',
  },
];

export function seriesPage(change: Partial<SeriesPage> = {}): SeriesPage {
  return {
    series: series(),
    state: '1.37 ms since 5 Nov (14.2 % slower: 1.2 ms → 1.37 ms)',
    level: AFTER,
    baseline_job_id: null,
    evaluated_at: nightOf(NIGHTS - 1),
    environments: ENVIRONMENTS,
    segments: [
      segment(0, KERNEL_AT - 1, LEVEL, 'first point'),
      segment(KERNEL_AT, STEP_AT - 1, LEVEL, 'kernel 6.1.0-12 → 6.1.0-13'),
      segment(STEP_AT, NIGHTS - 1, AFTER, '14.2 % slower: 1.2 ms → 1.37 ms'),
    ],
    changes: [changeOf()],
    noise: {
      mde: 0.012,
      basis: 'a_a',
      lower: AFTER * 0.988,
      upper: AFTER * 1.012,
      measured_at: nightOf(50),
      job_id: 'job-a-a',
      words: 'effects below 1.2 % are not resolved here',
    },
    rule: {
      rule_id: null,
      version: null,
      name: 'history-default',
      text: 'A level that got worse by more than 3 % is an alert.',
      min_effect: 0.03,
      direction: 'worse',
      mode: 'active',
      muted: null,
      limit: AFTER * 1.03,
    },
    annotations: [
      {
        id: 'note-1',
        series_id: 'series-1',
        target_id: null,
        at: nightOf(30),
        commit: null,
        text: 'New fan in the rack.',
        created_by: 'Grace',
        created_at: nightOf(31),
      },
    ],
    ...change,
  };
}

export function cell(change: Partial<MatrixCell> = {}): MatrixCell {
  return {
    target_id: 'target-1',
    series: 4,
    series_id: 'series-1',
    of: 'native time, batch=1000',
    unit: 'ns',
    value: value(NIGHTS - 1),
    excluded: null,
    at: nightOf(NIGHTS - 1),
    commit: commitOf(NIGHTS - 1),
    run_id: `run-night-${NIGHTS - 1}`,
    job_id: `job-night-${NIGHTS - 1}`,
    verdict: 'pass',
    verdict_words:
      'native at batch=1000: native is 25.8 % faster than fallback',
    change: changeOf(),
    changes: { standing: 1 },
    mde: 0.012,
    stale: false,
    stale_words: null,
    ...change,
  };
}

export function standing(change: Partial<ArmStandingRow> = {}): ArmStandingRow {
  return {
    suite: 'hashing',
    benchmark: 'ledger_batch',
    title: 'Ledger batch',
    arm: 'native',
    reference: 'fallback',
    metric: 'time',
    target_id: 'target-2',
    target_name: 'pixel-8',
    standing: 'lost',
    points: 4,
    points_so: 1,
    ratio: 1.18,
    words: 'batch=1000: 18 % slower',
    at: nightOf(1),
    run_id: 'run-live-1',
    job_id: 'job-1',
    ...change,
  };
}

export const standings: ArmStandings = {
  targets: [
    { id: 'target-1', name: 'lab-host', kind: 'host', simulated: false },
    { id: 'target-2', name: 'pixel-8', kind: 'device', simulated: false },
  ],
  suites: [
    {
      suite: 'hashing',
      title: 'Hashing',
      counts: {
        'target-1': { won: 1 },
        'target-2': { lost: 1, not_measured: 2 },
      },
      unwatched: [{ benchmark: 'frame_check', title: 'Frame check' }],
    },
  ],
  rows: [
    standing(),
    standing({
      target_id: 'target-1',
      target_name: 'lab-host',
      standing: 'won',
      points_so: 4,
      ratio: 0.742,
      words: 'batch=1000: 25.8 % faster',
    }),
  ],
  total: 2,
};

export const matrix: Matrix = {
  suite: 'hashing',
  branch: 'main',
  branches: ['main', 'release'],
  targets: [
    { id: 'target-1', name: 'lab-host', kind: 'host', imported: false },
    { id: 'target-2', name: 'pixel-8', kind: 'device', imported: false },
  ],
  rows: [
    {
      benchmark: 'ledger_batch',
      title: 'Ledger batch',
      declared: true,
      retired: null,
      unmeasured: [],
      cells: [
        cell(),
        cell({
          target_id: 'target-2',
          series_id: 'series-2',
          change: null,
          changes: {},
          verdict: 'inconclusive',
          mde: null,
          stale: true,
          stale_words: 'not measured for 12 days',
        }),
      ],
    },
    {
      benchmark: 'frame_check',
      title: 'Frame check',
      declared: false,
      retired: 'replaced by frame_verify',
      unmeasured: [],
      cells: [],
    },
  ],
};

const side = (of: number, job: string) => ({
  value: of,
  lower: of * 0.99,
  upper: of * 1.01,
  n: 100,
  launches: 5,
  job_id: job,
  excluded: null,
});

export function compareRow(change: Partial<CompareRow> = {}): CompareRow {
  return {
    benchmark: 'ledger_batch',
    arm: 'native',
    params: { batch: 1000 },
    metric: 'time',
    unit: 'ns',
    direction: 'lower',
    target_id: 'target-1',
    target_name: 'lab-host',
    series_id: 'series-1',
    base: side(LEVEL, 'job-night-44'),
    head: side(AFTER, 'job-night-45'),
    ratio: 1.142,
    lower: 1.12,
    upper: 1.165,
    mde: 0.012,
    words: '14.2 % slower (12.0 % slower to 16.5 % slower)',
    significance: 'clear',
    magnitude: 'medium',
    judged: false,
    verdict: null,
    verdict_job_id: null,
    ...change,
  };
}

export const compared: Compare = {
  suite: 'hashing',
  base: {
    name: commitOf(44).slice(0, 12),
    run_id: null,
    commit: commitOf(44),
    at: nightOf(44),
    runs: 1,
    demonstration: false,
  },
  head: {
    name: commitOf(45).slice(0, 12),
    run_id: null,
    commit: commitOf(45),
    at: nightOf(45),
    runs: 2,
    demonstration: false,
  },
  note: 'Shown, not judged: the two sides were measured in different jobs.',
  same_environment: false,
  environment: [
    {
      target_id: 'target-1',
      target_name: 'lab-host',
      factor: 'kernel',
      base: '6.1.0-12',
      head: '6.1.0-13',
      words: 'lab-host: kernel 6.1.0-12 → 6.1.0-13',
    },
  ],
  summary:
    '1 of 2 measurements differs clearly: 1 slower, 0 faster; most of all ledger_batch native.',
  choices: {
    targets: [{ id: 'target-1', name: 'lab-host' }],
    benchmarks: ['ledger_batch', 'piece'],
    metrics: ['time'],
  },
  total: 2,
  hidden: 0,
  next: null,
  name_texts: {},
  rows: [
    compareRow(),
    compareRow({
      arm: 'fallback',
      series_id: null,
      ratio: 1.004,
      lower: 0.99,
      upper: 1.02,
      words: '0.4 % slower (1.0 % faster to 2.0 % slower)',
      significance: 'uncertain',
      magnitude: 'none',
    }),
  ],
};

export function completeness(
  runId: string,
  change: Partial<Completeness> = {},
): Completeness {
  return {
    run_id: runId,
    suite: 'hashing',
    state: 'done',
    trigger: 'manual',
    words: 'all 8 cases arrived',
    complete: true,
    declared: 8,
    arrived: 8,
    pending: 0,
    unavailable: 0,
    unaffected: 0,
    missing: [],
    missing_total: 0,
    missing_groups: [],
    gone: [],
    ...change,
  };
}
