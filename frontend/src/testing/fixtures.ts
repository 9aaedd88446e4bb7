/**
 * Data of a small installation, typed by the schema. Times are relative to
 * `NOW`, the moment this module was loaded.
 */
import type {
  Account,
  Agent,
  EnrolledAgent,
  Job,
  Outcome,
  Run,
  Session,
  Suite,
  Target,
  TargetClaim,
} from '../api/types';

export const NOW = Date.now();

export function minutesAgo(minutes: number): string {
  return new Date(NOW - minutes * 60_000).toISOString();
}

export const ada: Account = {
  id: 'acc-ada',
  name: 'Ada',
  email: 'ada@example.org',
};
export const grace: Account = { id: 'acc-grace', name: 'Grace', email: null };

export const session: Session = {
  account: ada,
  has_password: true,
  project: 'default',
  role: 'admin',
  permissions: [
    'project.read',
    'members.read',
    'audit.read',
    'alerts.triage',
    'annotations.write',
    'benchmarks.write',
    'rules.write',
    'runs.create',
    'targets.use',
    'imports.write',
    'schedules.write',
    'channels.write',
    'members.write',
    'tokens.write',
    'project.write',
    'installation.admin',
  ],
  projects: [
    {
      name: 'default',
      title: 'Default',
      visibility: 'private',
      role: 'admin',
    },
  ],
  expires_at: minutesAgo(-600),
};

export const agent: Agent = {
  id: 'agent-1',
  name: 'lab-host',
  version: '0.1.0',
  state: 'online',
  last_seen_at: minutesAgo(0.1),
  created_at: minutesAgo(9000),
};

export const enrolledAgent: EnrolledAgent = {
  id: agent.id,
  name: agent.name,
  version: agent.version,
  state: 'online',
  last_seen_at: minutesAgo(0),
  created_at: minutesAgo(50_000),
  enrolled_by: 'Ada',
  revoked_at: null,
  credential_since: minutesAgo(50_000),
  rotation_requested_at: null,
  silence_limit_s: null,
  grant: {
    projects: ['default'],
    repositories: ['git.example.org/team/*'],
    targets: ['host:*', 'device:R5CT*'],
  },
  targets: [
    { id: 'target-1', name: 'bench-1', kind: 'host', serial: 'a1b2c3' },
  ],
};

/** A phone that was carried to another host. */
export const targetClaim: TargetClaim = {
  id: 'claim-1',
  target: {
    id: 'target-phone',
    name: 'Pixel 8',
    kind: 'device',
    serial: 'R5CT0001',
  },
  agent: { id: 'agent-2', name: 'lab-2' },
  owner: { id: agent.id, name: agent.name },
  state: 'open',
  first_at: minutesAgo(12),
  last_at: minutesAgo(0),
  decided_by: null,
  decided_at: null,
};

export function target(change: Partial<Target> = {}): Target {
  return {
    id: 'target-1',
    kind: 'host',
    name: 'lab-host',
    serial: '9f2c1b7a',
    agent_id: agent.id,
    agent_name: agent.name,
    state: 'online',
    hold: null,
    hold_reason: null,
    refuses: null,
    factors: {
      cpu_model: 'EPYC 9354',
      cpu_count: 8,
      memory_gib: 32,
      kernel: '6.8.0',
      governor: 'performance',
    },
    fingerprint: '4b'.repeat(32),
    preflight: [
      {
        code: 'turbo_on',
        level: 'warning',
        text: 'Turbo is on: the clock varies with temperature.',
        advice: 'Switch boost off in the firmware or the kernel.',
      },
      {
        code: 'virtualised',
        level: 'info',
        text: 'This host is a virtual machine.',
        advice: null,
      },
    ],
    simulated: false,
    imported: false,
    last_seen_at: minutesAgo(0.1),
    active_job_id: null,
    connection: null,
    boot_id: null,
    health: {
      state: 'unknown',
      reason: null,
      advice: null,
      since: null,
      failures: 0,
    },
    maintenance: null,
    takes_jobs: { ok: true, words: 'takes jobs' },
    gates: null,
    configuration: [],
    check: null,
    orders: [],
    refused_orders: [],
    reboots_left: 0,
    actions: ['maintenance'],
    ...change,
  };
}

export const suite: Suite = {
  name: 'hashing',
  title: 'Hashing',
  description: 'Digests of ledger fingerprints, native against the JVM.',
  imported: false,
  repository: 'paceline',
  manifest_path: 'native/hashing/suite.toml',
  manifest_hash: 'ab'.repeat(32),
  last_run_at: null,
  benchmarks: [
    {
      name: 'ledger_batch',
      title: 'Ledger batch',
      description: 'SHA-256 of a batch of 64-byte fingerprints.',
      workload: 'ledger',
      arms: ['fallback', 'native'],
      reference: 'fallback',
      device_reference: 'fallback',
      params: [
        {
          name: 'batch',
          kind: 'int',
          values: [1000, 2000, 5000, 10_000],
          unit: 'fingerprints',
          description: null,
          minimum: null,
          maximum: null,
        },
      ],
      metrics: [{ name: 'time', unit: 'ns', direction: 'lower' }],
      margin_percent: 2,
      device_margin_percent: 3,
    },
  ],
  knobs: [
    {
      name: 'heap_mib',
      kind: 'int',
      default: 256,
      minimum: 64,
      maximum: 4096,
      values: null,
      demonstration: false,
      description: 'Heap of the JVM.',
    },
    {
      name: 'native_slowdown_percent',
      kind: 'int',
      default: 0,
      minimum: 0,
      maximum: 400,
      values: null,
      demonstration: true,
      description: 'Makes the native arm this much slower.',
    },
  ],
  presets: [],
  updated_at: minutesAgo(300),
};

/** A suite that no agent announced: pytest-benchmark measured it. */
export const importedSuite: Suite = {
  ...suite,
  name: 'pytest_benchmark',
  title: 'Imported from pytest-benchmark',
  description: null,
  imported: true,
  repository: null,
  manifest_path: null,
  manifest_hash: null,
  benchmarks: suite.benchmarks.map((benchmark) => ({
    ...benchmark,
    name: 'test_parse',
    title: 'test_parse',
    workload: 'pytest_benchmark',
    arms: ['code'],
    reference: 'code',
    device_reference: 'code',
    params: [],
  })),
  knobs: [],
};

/** Derives the outcome of a run or a job, as the server does. */
export function outcomeOf(
  state: Job['state'] | Run['state'],
  verdict: Run['verdict'],
): Outcome {
  if (verdict !== null) return verdict;
  if (['queued', 'failed', 'lost', 'expired', 'cancelled'].includes(state))
    return state as Outcome;
  return 'running';
}

export function job(change: Partial<Job> = {}): Job {
  const { state = 'done', verdict = 'pass' } = change;
  return {
    outcome: outcomeOf(state, verdict),
    id: 'job-1',
    run_id: 'run-done-1',
    target_id: 'target-1',
    target_name: 'lab-host',
    state: 'done',
    detail: null,
    cause: null,
    waiting_reason: null,
    cause_detail: null,
    failure: null,
    attempt: 1,
    batch: 0,
    launches: 5,
    partial: false,
    progress: { launch: 4, launches: 5, done: 100, total: 100 },
    verdict: 'pass',
    reason: 'Every arm is faster than its reference.',
    artifact_hash: 'cd'.repeat(32),
    base_artifact_hash: null,
    samples: 3200,
    created_at: minutesAgo(64),
    started_at: minutesAgo(63),
    finished_at: minutesAgo(58),
    ...change,
  };
}

export function run(change: Partial<Run> = {}): Run {
  const { state = 'done', verdict = 'pass' } = change;
  const broken = change.jobs?.find(({ cause }) => cause !== null);
  return {
    outcome: outcomeOf(state, verdict),
    cause: broken?.cause ?? null,
    cause_detail: broken?.cause_detail ?? null,
    id: 'run-done-1',
    suite: 'hashing',
    repository: 'paceline',
    commit: '3f6c9b1d7e2a4c5580a1',
    base_commit: null,
    base_branch: null,
    pull_request: null,
    judges_head: false,
    stop_when_sure: false,
    concurrency_key: null,
    superseded_by: null,
    branch: 'main',
    trigger: 'manual',
    state: 'done',
    verdict: 'pass',
    reason: 'Every arm is faster than its reference.',
    demonstration: false,
    benchmarks: ['ledger_batch'],
    params: {},
    knobs: {},
    suppress: [],
    launches: 5,
    rounds: 20,
    min_time_ns: 1_000_000,
    created_by: 'Ada',
    created_at: minutesAgo(64),
    finished_at: minutesAgo(58),
    jobs: [job()],
    ...change,
  };
}

export const liveRun = run({
  id: 'run-live-1',
  state: 'active',
  verdict: null,
  reason: null,
  created_at: minutesAgo(3),
  finished_at: null,
  jobs: [
    job({
      id: 'job-live',
      run_id: 'run-live-1',
      state: 'measuring',
      verdict: null,
      reason: null,
      samples: 640,
      progress: { launch: 1, launches: 5, done: 34, total: 100 },
      created_at: minutesAgo(3),
      started_at: minutesAgo(2.8),
      finished_at: null,
    }),
  ],
});

export const demoRun = run({
  id: 'run-demo-1',
  verdict: 'fail',
  demonstration: true,
  knobs: { native_slowdown_percent: 60 },
  reason: 'native is slower than fallback at 4 of 4 points.',
  created_at: minutesAgo(41),
  finished_at: minutesAgo(36),
  jobs: [
    job({
      id: 'job-demo',
      run_id: 'run-demo-1',
      verdict: 'fail',
      reason: 'native is slower than fallback at 4 of 4 points.',
    }),
  ],
});

export const failedRun = run({
  id: 'run-failed-1',
  state: 'failed',
  verdict: null,
  reason: 'lab-host: the workload crashed: ledger, launch 2: SIGSEGV',
  created_at: minutesAgo(200),
  finished_at: minutesAgo(199),
  jobs: [
    job({
      id: 'job-failed',
      run_id: 'run-failed-1',
      state: 'failed',
      cause: 'workload_crashed',
      partial: true,
      samples: 120,
      cause_detail: 'ledger, launch 2: SIGSEGV',
      failure: {
        title: 'The workload crashed',
        sentence: 'ledger, launch 2: SIGSEGV',
        excerpt: [],
        is_recognised: false,
        advice: 'Run the workload by hand on the target to get a stack trace.',
      },
      verdict: null,
      reason: null,
    }),
  ],
});
