/** A backend in which the whole hashing suite was measured once on `lab-host`; see fixtures-hashing.ts. */
import type {
  Audit,
  Comparison,
  Derived,
  JobReport,
  Measurement,
  Unavailable,
} from '../api/types';
import { job, minutesAgo, run } from './fixtures';
import { comparison } from './fixtures-decisions';
import { hashingSuite, ledgerBatch, PIECE_ARMS } from './fixtures-hashing';
import { report, type FakeBackend } from './fake-backend';

export const HASHING_JOB = 'job-hashing';
const HASHING_RUN = 'run-hashing-1';

const [BATCHES, MESSAGES] = ledgerBatch.params.map(({ values }) =>
  values.map(Number),
) as [number[], number[]];

/** Costs in ns per call and per byte, chosen so that each arm has another crossover with the fallback. */
const LEDGER_COST: Readonly<
  Record<string, readonly [call: number, perByte: number, each: number]>
> = {
  fallback: [20, 0.55, 38],
  native_each: [20, 0.5, 95],
  native: [210, 0.13, 4],
  native_array: [340, 0.13, 5],
  native_list: [520, 0.14, 12],
  policy: [45, 0.13, 5],
};

/** Costs per piece of `time`, `js_thread` and `digest`, µs. */
const PIECE_COST: Readonly<Record<string, readonly [number, number, number]>> =
  {
    raw: [482, 0, 482],
    seed: [566, 566, 481],
    noslice: [530, 530, 481],
    reuse: [511, 511, 481],
    direct: [485, 485, 481],
    batch_8: [529, 529, 481],
    batch_16: [528, 528, 481],
    async: [251, 9.2, 484],
    native: [412, 412, 408],
    native_multi: [88, 3.7, 86],
    skip_verification: [1.2, 1.2, 0],
  };

function at(arm: string, batch: number, message: number): number {
  const [call, perByte, perMessage] = LEDGER_COST[arm] ?? [0, 1, 0];
  const best = call + batch * (perMessage + perByte * message);
  const fallback = 20 + batch * (38 + 0.55 * message);
  return arm === 'policy' && batch < 10 ? fallback * 1.01 : best;
}

function hashed(change: Partial<Comparison> & { ratio: number }): Comparison {
  const { ratio } = change;
  const slower = ratio > 1;
  const by = (Math.abs(1 - ratio) * 100).toFixed(1);
  const where = Object.entries(change.params ?? {}).map(
    ([name, value]) => `${name} ${value}`,
  );
  return comparison({
    run_id: HASHING_RUN,
    job_id: HASHING_JOB,
    measured_at: minutesAgo(12),
    lower: ratio * 0.985,
    upper: ratio * 1.015,
    verdict: slower ? 'fail' : 'pass',
    reason: slower
      ? 'All 100 blocks lie beyond the margin.'
      : 'The whole interval lies below the margin.',
    words:
      `${change.arm} is ${by} % ${slower ? 'slower' : 'faster'} than ${change.reference} ` +
      `at ${where.join(', ') || 'its one point'}`,
    share_slower: slower ? 1 : 0,
    ...change,
  });
}

const ledger: Comparison[] = Object.keys(LEDGER_COST)
  .filter((arm) => arm !== 'fallback')
  .flatMap((arm) =>
    BATCHES.flatMap((batch) =>
      MESSAGES.map((message) =>
        hashed({
          arm,
          reference: 'fallback',
          params: { batch, message },
          ratio: at(arm, batch, message) / at('fallback', batch, message),
        }),
      ),
    ),
  );

const pieces: Comparison[] = ['time', 'js_thread', 'call_time'].flatMap(
  (metric, index) =>
    PIECE_ARMS.filter((arm) => arm !== 'raw').map((arm) => {
      const cost = PIECE_COST[arm] ?? [1, 1, 1];
      return hashed({
        benchmark: 'piece',
        metric,
        arm,
        reference: 'raw',
        params: {},
        ratio: (index === 1 ? Math.max(cost[1], 0.5) : cost[0]) / 482,
      });
    }),
);

const NOTHING_COMPARED = {
  ratio: null,
  lower: null,
  upper: null,
  verdict: 'inconclusive',
  reason: 'The audit found order_unbalanced, too_few, warmup_in_timer.',
  words: 'nothing to compare',
} as const;

const protocol: Comparison[] = [1000, 5000, 10_000].flatMap((batch) =>
  ['seed', 'paceline'].map((name) => {
    const row = hashed({
      benchmark: 'seed_protocol',
      arm: 'native',
      reference: 'fallback',
      params: { protocol: name, batch },
      ratio: 1.94,
    });
    return name === 'seed' ? Object.assign(row, NOTHING_COMPARED) : row;
  }),
);

function measured(
  change: Partial<Measurement> & { median: number },
): Measurement {
  const { median } = change;
  return {
    benchmark: 'ledger_batch',
    arm: 'native',
    params: {},
    metric: 'time',
    unit: 'ns',
    direction: 'lower',
    launches: 5,
    n: 100,
    mean: median * 1.01,
    p99: median * 1.08,
    min: median * 0.98,
    max: median * 1.3,
    sd: median * 0.015,
    flags: [],
    median_lower: null,
    median_upper: null,
    side: null,
    items: null,
    bytes: null,
    ...change,
  };
}

const measurements: Measurement[] = [
  ...protocol.flatMap(({ params }) =>
    ['fallback', 'native'].map((arm) =>
      measured({ benchmark: 'seed_protocol', arm, params, median: 1e6 }),
    ),
  ),
  ...Object.keys(LEDGER_COST).flatMap((arm) =>
    BATCHES.flatMap((batch) =>
      MESSAGES.map((message) =>
        measured({
          arm,
          params: { batch, message },
          median: at(arm, batch, message),
          items: batch,
          bytes: batch * message,
        }),
      ),
    ),
  ),
  ...PIECE_ARMS.flatMap((arm) =>
    ['time', 'js_thread', 'digest', 'call_time'].map((metric, index) =>
      measured({
        benchmark: 'piece',
        arm,
        metric,
        median: 1000 * ((PIECE_COST[arm] ?? [])[index % 3] ?? 0),
        items: 1,
        bytes: 2 ** 20,
      }),
    ),
  ),
];

function derived(change: Partial<Derived>): Derived {
  return {
    name: 'derived',
    kind: 'crossover',
    benchmark: 'ledger_batch',
    metric: 'time',
    arm: 'native',
    base_arm: 'fallback',
    part: null,
    param: 'batch',
    rate_bytes_per_s: null,
    description: null,
    params: {},
    value: null,
    lower: null,
    upper: null,
    unit: 'ratio',
    answered: false,
    words: '',
    note: '',
    ...change,
  };
}

const CROSSOVERS: Readonly<Record<string, number | null>> = {
  native: 10,
  native_array: 100,
  native_list: 100,
  policy: 10,
  native_each: null,
};

const derivedRows: Derived[] = [
  ...Object.entries(CROSSOVERS).map(([arm, value]) =>
    derived({
      name: `crossover_${arm}`,
      arm,
      params: { message: 150 },
      value,
      unit: 'param',
      answered: true,
      words:
        value === null
          ? `${arm} never crosses fallback`
          : `${arm} is faster from batch ${value} on`,
    }),
  ),
  ...PIECE_ARMS.filter((arm) => arm !== 'raw' && arm !== 'seed').map((arm) => {
    const value = 566 / (PIECE_COST[arm]?.[0] ?? 1);
    return derived({
      name: `gain_${arm}`,
      kind: 'speedup_between_arms',
      benchmark: 'piece',
      arm,
      base_arm: 'seed',
      param: null,
      value,
      lower: value * 0.99,
      upper: value * 1.01,
      answered: true,
      words: `${arm} is ${value.toFixed(2)} times as fast as seed`,
    });
  }),
  derived({
    name: 'ffi_overhead_seed',
    kind: 'share_between_metrics',
    benchmark: 'piece',
    arm: 'seed',
    base_arm: null,
    param: null,
    value: 0.174,
    lower: 0.171,
    upper: 0.178,
    unit: 'share',
    answered: true,
    words: '17.4 % of time of seed is not digest',
  }),
];

export const hashingAudits: Audit[] = [
  {
    benchmark: 'seed_protocol',
    params: { protocol: 'seed', batch: 1000 },
    findings: [
      {
        name: 'order_unbalanced',
        arms: [],
        decisive: true,
        text: 'native ran first in 3 of 3 blocks.',
      },
      {
        name: 'too_few',
        arms: [],
        decisive: true,
        text: '3 blocks of 1 launch; a verdict needs 30 of 3.',
      },
      {
        name: 'warmup_in_timer',
        arms: [],
        decisive: true,
        text: 'No warm-up round before the measured ones.',
      },
      {
        name: 'preparation_in_timer',
        arms: [],
        decisive: true,
        text: '1,000 inputs were built inside the timer.',
      },
      {
        name: 'unequal_work',
        arms: [],
        decisive: true,
        text: 'fallback kept 1,000 digests, native none.',
      },
    ],
    naive: 'native is 18.0 % faster than fallback',
  },
];

const unavailable: Unavailable[] = [
  {
    benchmark: 'ledger_batch',
    arm: 'native_ffm',
    params: {},
    reason: 'needs Java 22 or newer; this is Java 17',
  },
];

export function hashingReport(): JobReport {
  const of = run({ id: HASHING_RUN, suite: 'hashing' });
  return {
    ...report(of),
    measurements,
    comparisons: [...ledger, ...pieces, ...protocol],
    derived: derivedRows,
    audits: hashingAudits,
    unavailable,
  };
}

export function addHashingScenario(backend: FakeBackend): void {
  backend.suites = [hashingSuite];
  backend.comparisons = [...ledger, ...pieces, ...protocol];
  backend.reports.set(HASHING_JOB, hashingReport());
  backend.runs.unshift(
    run({
      id: HASHING_RUN,
      jobs: [job({ id: HASHING_JOB, run_id: HASHING_RUN })],
      benchmarks: [],
    }),
  );
}
