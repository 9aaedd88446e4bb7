/** A backend with a job that was measured on a phone, its readings and their texts, and a quarantined phone. */
import type { Conditions, Reported } from '../api/types';
import { job, minutesAgo, run } from './fixtures';
import { quarantinedPhone } from './fixtures-targets';
import { report, type FakeBackend } from './fake-backend';

export const DEVICE_JOB = 'job-device';
const RUN = 'run-device-1';

/** Makes readings before, between and after ten launches; a device is never queried while a launch runs. */
export function deviceReadings(): Conditions[] {
  return Array.from({ length: 12 }, (_, index) => ({
    seq: index * 3,
    phase: index === 0 ? 'before' : index === 11 ? 'after' : 'during',
    at_ms: index * 21_000,
    values: {
      cpu_frequency_mhz: { 'cpu0-3': 1803, 'cpu4-7': index < 8 ? 2850 : 2350 },
      temperature_c: { CPU0: 41 + index * 1.4, battery: 31 + index * 0.4 },
      battery_c: 31 + index * 0.4,
      throttling: { CPU0: index < 8 ? 0 : 2 },
      load_1m: 1.2,
      configuration: ['unlocked_clocks'],
      unknown: ['thermal_status'],
      events:
        index === 8
          ? ['11-21 22:01:09.113 thermald: CPU0 throttled, severity moderate']
          : [],
    },
    raw: [
      {
        command: 'dumpsys thermalservice',
        status: 0,
        at_ms: index * 21_000,
        took_ms: 34,
        text: `Current temperatures from HAL: (reading ${index})`,
      },
    ],
  }));
}

/** Makes `count` lines that an app printed during its launches; the last one has another format. */
export function reportedLines(count: number): Reported[] {
  return Array.from({ length: count }, (_, index) => {
    const at = `11-21 22:0${index % 10}:09.113`;
    const text = `${at}  4711  4711 I MyApp: Batch ${1000 + index}: native avg=2.82ms`;
    const whole = {
      batch: 1000 + index,
      arm: 'native',
      avg: {
        printed: '2.82ms',
        value: 2_820_000,
        low: 2_815_000,
        high: 2_825_000,
        unit: 'ns',
      },
    };
    const torn = index === count - 1;
    return {
      seq: 5 + index,
      launch: index === 0 ? null : index % 10,
      side: null,
      pattern: 'mine.latency',
      at,
      fields: torn ? {} : whole,
      text: torn ? `${at}  4711  4711 I MyApp: Batch` : text,
      note: torn ? 'expected a whole number without separators (batch)' : null,
    };
  });
}

export function addDevicesScenario(backend: FakeBackend): void {
  backend.targets.push(
    quarantinedPhone({
      id: 'target-4',
      name: 'pixel-6a',
      serial: '27081JEGR1',
    }),
  );
  const measured = run({
    id: RUN,
    suppress: ['unlocked_clocks'],
    launches: 10,
    reason:
      'Every arm is faster than its reference (suppressed: unlocked_clocks).',
    jobs: [
      job({
        id: DEVICE_JOB,
        run_id: RUN,
        target_id: 'target-2',
        target_name: 'pixel-8',
        launches: 10,
        created_at: minutesAgo(30),
      }),
    ],
  });
  backend.runs.unshift(measured);
  backend.conditions.set(DEVICE_JOB, deviceReadings());
  backend.reported.set(DEVICE_JOB, reportedLines(3));
  backend.reports.set(DEVICE_JOB, {
    ...report(measured),
    suppressed: ['unlocked_clocks'],
  });
}
