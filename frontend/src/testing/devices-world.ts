/** A world with a job measured on a phone, its readings with their texts, and a phone in quarantine. */
import type { Conditions } from '../api/types';
import { job, minutesAgo, run } from './fixtures';
import { quarantinedPhone } from './fixtures-targets';
import { report, type World } from './world';

export const DEVICE_JOB = 'job-device';
const RUN = 'run-device-1';

/** Before, between ten launches, after: nothing is asked of a device while a launch runs. */
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
      events: index === 8 ? ['11-21 22:01:09.113 thermald: CPU0 throttled, severity moderate'] : [],
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

export function withDevices(world: World): void {
  world.targets.push(quarantinedPhone({ id: 'target-4', name: 'pixel-6a', serial: '27081JEGR1' }));
  const measured = run({
    id: RUN,
    suppress: ['unlocked_clocks'],
    launches: 10,
    reason: 'Every arm is faster than its reference (suppressed: unlocked_clocks).',
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
  world.runs.unshift(measured);
  world.conditions.set(DEVICE_JOB, deviceReadings());
  world.reports.set(DEVICE_JOB, { ...report(measured), suppressed: ['unlocked_clocks'] });
}
