/**
 * Devices of the small installation: a phone that is too hot, one in quarantine with its evidence, and a simulated
 * one; with their health checks, events and conditions.
 */
import type {
  HealthCheck,
  Target,
  TargetConditions,
  TargetEvent,
} from '../api/types';
import { minutesAgo, target } from './fixtures';

export function check(change: Partial<HealthCheck> = {}): HealthCheck {
  return {
    id: 'check-1',
    at: minutesAgo(12),
    took_ms: 23_400,
    ok: true,
    infrastructure: false,
    steps: [
      {
        name: 'round_trip',
        ok: true,
        text: 'twenty round trips',
        value: 1.8,
        unit: 'ms',
      },
      {
        name: 'push_and_hash',
        ok: true,
        text: '1 MiB arrived as it was sent',
        value: 38.2,
        unit: 'MB/s',
      },
      {
        name: 'self_test',
        ok: true,
        text: 'known digest; the CPU has SHA-2',
        value: null,
        unit: null,
      },
      {
        name: 'free_space',
        ok: true,
        text: '',
        value: 61.4 * 2 ** 30,
        unit: 'bytes',
      },
    ],
    raw: [
      {
        command: 'dumpsys battery',
        status: 0,
        at_ms: 1000,
        took_ms: 41,
        text: 'Current Battery Service state:\n  level: 64\n  temperature: 410',
      },
      {
        command: 'cat /proc/pressure/cpu',
        status: null,
        at_ms: 1100,
        took_ms: 10_000,
        text: '',
      },
    ],
    ...change,
  };
}

export function phone(change: Partial<Target> = {}): Target {
  return target({
    id: 'target-2',
    kind: 'device',
    name: 'pixel-8',
    serial: '38090DLJH0',
    factors: {
      model: 'Pixel 8',
      soc: 'Tensor G3',
      build: 'AP4A.250205.002',
      api: 35,
      cores: 9,
    },
    preflight: [],
    connection: {
      state: 'online',
      reason: null,
      advice: null,
      route: '192.168.1.20:5555',
      since: minutesAgo(600),
    },
    boot_id: '4d0b6cf2-5a4e-4f6e-9c1b-1c0f5b8f0a11',
    health: {
      state: 'good',
      reason: null,
      advice: null,
      since: minutesAgo(590),
      failures: 0,
    },
    gates: {
      battery_c: 29.5,
      battery_percent: 82,
      charging: true,
      thermal_status: 0,
      free_bytes: 61.4 * 2 ** 30,
      at: minutesAgo(0.2),
    },
    check: check(),
    reboots_left: 2,
    actions: ['maintenance', 'quarantine', 'recheck', 'reboot'],
    ...change,
  });
}

/** Makes a phone that takes no jobs until it has cooled down by itself. */
export function hotPhone(): Target {
  const reason = 'battery at 41 °C, measuring again below 32 °C';
  return phone({
    hold: 'cooling',
    hold_reason: reason,
    health: {
      state: 'recovering',
      reason,
      advice:
        'It takes jobs again by itself; keep it charging and out of the sun.',
      since: minutesAgo(6),
      failures: 1,
    },
    takes_jobs: { ok: false, words: `takes no jobs: it recovers: ${reason}` },
    gates: {
      battery_c: 41,
      battery_percent: 64,
      charging: true,
      thermal_status: null,
      free_bytes: 61.4 * 2 ** 30,
      at: minutesAgo(0.2),
    },
    configuration: [
      {
        name: 'unlocked_clocks',
        text: 'its clocks are not held: neither fixed-performance mode nor locked frequencies',
        advice:
          'Use a device that has fixed-performance mode, lock its clocks, or suppress this error: `paceline submit --suppress unlocked_clocks`, or “Errors to suppress” of a new run.',
      },
    ],
    preflight: [
      {
        code: 'battery_low',
        level: 'blocker',
        text: 'Battery at 12 %.',
        advice: 'Charge above 50 %.',
      },
    ],
  });
}

export function quarantinedPhone(change: Partial<Target> = {}): Target {
  const reason =
    '3 infrastructure failures without a good run between; the last: push: the hash differs';
  return phone({
    state: 'offline',
    connection: {
      state: 'unauthorized',
      reason: 'the prompt on its screen was not accepted',
      advice: 'Unlock it and accept the prompt.',
      route: 'usb:1-4.2',
      since: minutesAgo(30),
    },
    hold: 'quarantined',
    hold_reason: reason,
    health: {
      state: 'quarantined',
      reason,
      advice: 'Look at the evidence, set it right, then release it.',
      since: minutesAgo(20),
      failures: 3,
    },
    takes_jobs: {
      ok: false,
      words: `takes no jobs: it is in quarantine: ${reason}`,
    },
    check: check({
      ok: false,
      infrastructure: true,
      steps: [
        {
          name: 'push_and_hash',
          ok: false,
          text: 'the hash differs',
          value: null,
          unit: null,
        },
      ],
    }),
    actions: ['maintenance', 'release', 'recheck', 'reboot'],
    ...change,
  });
}

export function simulatedPhone(): Target {
  return phone({
    id: 'target-3',
    name: 'sim-healthy',
    serial: 'SIM0001',
    simulated: true,
    takes_jobs: { ok: true, words: 'takes jobs' },
    configuration: [
      {
        name: 'simulated',
        text: 'it is simulated: no phone measured this',
        advice:
          'Measure on a phone. On simulated targets it is expected and named in the verdict.',
      },
    ],
  });
}

function event(change: Partial<TargetEvent> & { id: string }): TargetEvent {
  return {
    at: minutesAgo(6),
    axis: 'health',
    event: 'gates_read',
    from_state: 'good',
    to_state: 'recovering',
    reason: null,
    evidence: {},
    actor: 'agent',
    words:
      'was hot, low or full, or is no more (good → recovering): battery at 41 °C',
    ...change,
  };
}

export const events: TargetEvent[] = [
  event({
    id: 'ev-4',
    evidence: { battery_c: 41, battery_percent: 64, thermal_status: null },
  }),
  event({
    id: 'ev-3',
    at: minutesAgo(12),
    event: 'check_passed',
    from_state: 'checking',
    to_state: 'good',
    words: 'passed its health check (checking → good)',
  }),
  event({
    id: 'ev-2',
    at: minutesAgo(90),
    axis: 'maintenance',
    event: 'maintenance_off',
    from_state: 'on',
    to_state: 'off',
    actor: 'Ada',
    words: 'was given free again by Ada (on → off)',
  }),
];

/** Events of the next, older page. */
export const olderEvents: TargetEvent[] = [
  event({
    id: 'ev-1',
    at: minutesAgo(600),
    axis: 'connection',
    event: 'connected',
    from_state: null,
    to_state: 'online',
    words: 'was reached',
  }),
];

const HOURS = 7 * 24;

export const conditions: TargetConditions = {
  tracks: [
    {
      key: 'battery_percent',
      unit: '%',
      points: [
        { at: minutesAgo(HOURS * 60), value: 100 },
        { at: minutesAgo(20), value: 64 },
      ],
    },
    {
      key: 'battery_c',
      unit: '°C',
      points: Array.from({ length: HOURS }, (_, hour) => ({
        at: minutesAgo((HOURS - hour) * 60),
        value: 27 + 4 * Math.sin(hour / 3.8) + (hour > HOURS - 4 ? 9 : 0),
      })),
    },
    {
      key: 'thermal_status',
      unit: '',
      points: [
        { at: minutesAgo(HOURS * 60), value: 0 },
        { at: minutesAgo(180), value: 2 },
      ],
    },
  ],
  gaps: [{ after: minutesAgo(60 * 60), until: minutesAgo(50 * 60) }],
  jobs: [
    {
      job_id: 'job-1',
      run_id: 'run-done-1',
      suite: 'hashing',
      at: minutesAgo(58),
      verdict: 'inconclusive',
      conditions: {
        battery_c: { median: 33.1, max: 36.4 },
        cpu_frequency_mhz: { median: 2910, max: 2910 },
      },
      suppressed: ['unlocked_clocks'],
    },
  ],
  note:
    'Read when its agent looks, kept when they changed and every ten minutes; a gap is a device that was ' +
    'not connected, or that a job measured on: nothing is read meanwhile.',
};
