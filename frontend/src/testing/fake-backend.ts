/** The state of the fixture API, which tests may read and change. */
import type {
  Account,
  Agent,
  Alert,
  AlertDetail,
  Arms,
  ArmStandings,
  Compare,
  Comparison,
  Completeness,
  Conditions,
  Distribution,
  EnrolledAgent,
  EnrolmentRequest,
  JobReport,
  LiveSeries,
  LogLine,
  Matrix,
  Reported,
  Run,
  RunRequest,
  SeriesPage,
  SeriesPoint,
  Series,
  Session,
  Suite,
  Target,
  TargetClaim,
  WaiverRequest,
} from '../api/types';
import { createFakeDecisions, type FakeDecisions } from './fake-decisions';
import {
  ada,
  agent,
  enrolledAgent,
  demoRun,
  failedRun,
  grace,
  job,
  liveRun,
  minutesAgo,
  run,
  session,
  suite,
  target,
} from './fixtures';
import { hotPhone, simulatedPhone } from './fixtures-targets';
import { createFleet, type Fleet } from './fake-fleet';
import { createChannels, type FakeChannels } from './fake-channels';
import { createPeople, type FakePeople } from './fake-people';
import {
  alertDetail,
  alerts,
  comparisons,
  phoneComparisons,
} from './fixtures-decisions';
import {
  compared,
  historyPoints,
  matrix,
  series,
  standings,
} from './fixtures-history';

/** Series, comparisons and completeness, and the requests for them. */
export interface History {
  series: Series[];
  /** Null means the page of fixtures-history. */
  page: SeriesPage | null;
  points: SeriesPoint[];
  /** The server's sentence when it leaves points out. */
  thinned: string;
  windows: { from: string | null; to: string | null }[];
  matrix: Matrix;
  standings: ArmStandings;
  compare: Compare;
  compares: Record<string, string>[];
  /** Rows per page of a comparison. */
  comparePage: number;
  /** Refuses every page after the first, as if rows had changed. */
  compareMoved: boolean;
  /** Completeness by run; other runs are complete. */
  completeness: Map<string, Completeness>;
  retired: { benchmark: string; arm: string | null; reason: string }[];
}

export interface FakeBackend {
  session: Session | null;
  signedIn: boolean;
  /** Projects that requests named; null stands for requests without one. */
  projects: Set<string | null>;
  /** Whether requests without a project get one of the session's projects. */
  hasDefault: boolean;
  accounts: Account[];
  agents: Agent[];
  enrolled: EnrolledAgent[];
  claims: TargetClaim[];
  decidedClaims: { id: string; state: TargetClaim['state'] }[];
  /** Ids of targets that a job is using. */
  busyTargets: string[];
  enrolmentRequests: EnrolmentRequest[];
  targets: Target[];
  fleet: Fleet;
  suites: Suite[];
  runs: Run[];
  alerts: Map<string, AlertDetail>;
  comparisons: Comparison[];
  logs: Map<string, LogLine[]>;
  conditions: Map<string, Conditions[]>;
  reported: Map<string, Reported[]>;
  series: Map<string, LiveSeries[]>;
  /** Reports of jobs that differ from `report`. */
  reports: Map<string, JobReport>;
  /** Requested waivers; each applies to the reports of its target's jobs. */
  waivers: WaiverRequest[];
  requested: RunRequest[];
  history: History;
  decisions: FakeDecisions;
  people: FakePeople;
  channels: FakeChannels;
  /** Set to answer every request with this problem. */
  failure: {
    status: number;
    code: string;
    detail: string;
    path?: RegExp;
  } | null;
}

export function lines(count: number): LogLine[] {
  const words = [
    'Compiling paceline-hashing',
    'Finished release profile',
    'launch 1: 4 cases',
    'round 12 of 25',
  ];
  return Array.from({ length: count }, (_, index) => ({
    seq: index,
    stream: index < count / 2 ? 'build' : 'workload',
    text: `${words[index % words.length]} (${index})`,
  }));
}

export function readings(count: number): Conditions[] {
  return Array.from({ length: count }, (_, index) => ({
    seq: index,
    phase: index < 3 ? 'before' : 'during',
    at_ms: Date.parse(minutesAgo(3)) + index * 1000,
    raw: null,
    values: {
      cpu_frequency_mhz: [3600 + 90 * Math.sin(index / 6), 3500],
      temperature_c: { 'k10temp.Tctl': 52 + index * 0.06 },
      load_1m: 0.6 + index * 0.01,
      psi_cpu_percent: Math.max(0, Math.sin(index / 9)) * 1.4,
      memory_available_bytes: 21.3e9 - index * 2e6,
    },
  }));
}

export function samples(count: number): LiveSeries[] {
  return [1000, 2000, 5000, 10_000].flatMap((batch) =>
    ['fallback', 'native'].map((arm, at) => {
      const base = batch * (at === 0 ? 310 : 205);
      return {
        benchmark: 'ledger_batch',
        arm,
        params: { batch },
        metric: 'time',
        unit: 'ns' as const,
        side: null,
        n: count,
        median: base,
        values: Array.from(
          { length: 40 },
          (_, i) =>
            base *
            (1 + 0.01 * Math.sin(i * 1.7 + batch) + (i % 13 === 0 ? 0.03 : 0)),
        ),
      };
    }),
  );
}

export function arms(
  backend: FakeBackend,
  benchmark: string,
  metric: string,
  rows: Comparison[],
): Arms {
  return {
    suite: 'hashing',
    benchmark,
    reference: rows[0]?.reference ?? 'fallback',
    device_reference: rows[0]?.reference ?? 'fallback',
    name_texts: {},
    metric,
    rule: 'An arm fails when its paired blocks are slower than the reference by more than the margin.',
    summary:
      backend.comparisons.length === 0
        ? ''
        : 'native beats fallback at all 4 batch sizes on lab-host, by 25.8 % to 42.9 %.',
    comparisons: rows,
  };
}

export function distribution(
  jobId: string,
  params: Record<string, number | string>,
): Distribution {
  const batch = Number(params['batch'] ?? 1000);
  return {
    job_id: jobId,
    benchmark: 'ledger_batch',
    params,
    metric: 'time',
    unit: 'ns',
    summary:
      'Nearly every native sample is faster than the fastest fallback sample.',
    arms: [
      ['fallback', 310],
      ['native', 220],
    ].map(([arm, cost]) => ({
      arm: String(arm),
      n: 100,
      median: batch * Number(cost),
      points: Array.from({ length: 100 }, (_, i) => ({
        value:
          batch *
          Number(cost) *
          (0.97 + 0.05 * (i / 100) + (i > 95 ? 0.02 * (i - 95) : 0)),
        share: (i + 1) / 100,
      })),
    })),
  };
}

const DERIVED: JobReport['derived'] = [
  {
    name: 'per_fingerprint_slope',
    kind: 'slope',
    benchmark: 'ledger_batch',
    metric: 'time',
    arm: 'native',
    base_arm: null,
    part: null,
    rate_bytes_per_s: null,
    description: null,
    param: 'batch',
    unit: 'exponent',
    answered: true,
    words: 'time of native grows with batch to the power 0.98',
    note: '',
    params: {},
    value: 0.98,
    lower: 0.97,
    upper: 0.99,
  },
];

const GATES: JobReport['gates'] = [
  {
    name: null,
    description: null,
    derived: null,
    lower: null,
    upper: null,
    benchmark: 'ledger_batch',
    arm: 'native',
    params: { batch: 1000 },
    metric: 'time',
    statistic: 'p99',
    absolute: false,
    requires: [],
    op: '<',
    level: 'required',
    target: 400_000,
    actual: 238_000,
    reached: 1.68,
    standing: 'pass',
    verdict: 'pass',
    reason: 'p99 is below the limit.',
    waived: null,
    witness: null,
  },
];

export function report(of: Run): JobReport {
  const slow = of.verdict === 'fail';
  return {
    suite: of.suite,
    revision: of.commit,
    artifact_hash: 'cd'.repeat(32),
    target: 'lab-host',
    started_at: of.created_at,
    missing: null,
    unaffected: null,
    saved: null,
    name_texts: {},
    checks: [
      { name: 'sha256_vectors', ok: true, detail: 'published vectors' },
      { name: 'native_equals_fallback', ok: true, detail: 'all batches' },
    ],
    measurements: samples(100).map(({ values: _values, ...row }) => ({
      ...row,
      direction: 'lower',
      launches: 5,
      mean: row.median * 1.01,
      p99: row.median * 1.08,
      min: row.median * 0.98,
      max: row.median * 1.2,
      sd: row.median * 0.015,
      flags: [],
      median_lower: null,
      median_upper: null,
      items: null,
      bytes: null,
    })),
    comparisons: comparisons.map((row) =>
      slow
        ? {
            ...row,
            ratio: 1.189,
            lower: 1.171,
            upper: 1.21,
            verdict: 'fail',
            share_slower: 1,
            words: 'native is 18.9 % slower than fallback',
          }
        : row,
    ),
    derived: DERIVED,
    gates: GATES,
    audits: [],
    unavailable: [],
    witnesses: [],
    base: null,
    blockers: [],
    disturbances: [],
    next_steps: {},
    method: 'paired-sign-test/4',
    gate_method: 'gate-interval/2',
    reasons: [],
    added: [],
    removed: [],
    suppressed: [],
    conditions: {},
  };
}

function createHistory(): History {
  return {
    series: [
      series(),
      series({
        id: 'series-2',
        target_id: 'target-2',
        target_name: 'pixel-8',
        changes: {},
      }),
    ],
    page: null,
    points: historyPoints,
    thinned: '',
    windows: [],
    matrix,
    standings,
    compare: compared,
    compares: [],
    comparePage: 100,
    compareMoved: false,
    completeness: new Map(),
    retired: [],
  };
}

export function createFakeBackend(): FakeBackend {
  const confirmRun = run({
    ...demoRun,
    id: 'run-confirm-1',
    trigger: 'confirm',
    created_by: 'Paceline',
    created_at: minutesAgo(34),
    jobs: [
      job({ id: 'job-confirm', run_id: 'run-confirm-1', verdict: 'fail' }),
    ],
  });
  return {
    session: structuredClone(session),
    signedIn: true,
    projects: new Set(),
    hasDefault: true,
    accounts: [ada, grace],
    agents: [agent],
    enrolled: [enrolledAgent],
    claims: [],
    decidedClaims: [],
    busyTargets: [],
    enrolmentRequests: [],
    targets: [
      target({
        state: 'busy',
        active_job_id: 'job-live',
        takes_jobs: { ok: false, words: 'takes no other job: it runs one' },
      }),
      hotPhone(),
      simulatedPhone(),
    ],
    fleet: createFleet(),
    suites: [suite],
    runs: [liveRun, demoRun, confirmRun, run(), failedRun],
    alerts: new Map(
      alerts.map((alert: Alert) => [alert.id, alertDetail(alert)]),
    ),
    comparisons: [...comparisons, ...phoneComparisons],
    logs: new Map([
      ['job-live', lines(60)],
      ['job-1', lines(40)],
    ]),
    conditions: new Map([
      ['job-live', readings(120)],
      ['job-1', readings(300)],
    ]),
    reported: new Map(),
    series: new Map([
      ['job-live', samples(160)],
      ['job-1', samples(100)],
      ['job-demo', samples(100)],
    ]),
    reports: new Map(),
    waivers: [],
    requested: [],
    history: createHistory(),
    decisions: createFakeDecisions(),
    people: createPeople(),
    channels: createChannels(),
    failure: null,
  };
}
