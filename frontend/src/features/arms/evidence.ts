/**
 * What the reports of the compared jobs say beside the comparisons: measurements, derived rows, audits, arms
 * that could not run. Pure. Invariant: nothing is computed; where several jobs say the same thing, the newest
 * one that could know is believed.
 */
import type { Audit, Comparison, Derived, JobReport, Measurement, Unavailable } from '../../api/types';
import { paramsKey } from '../../lib/params';

export interface Evidence {
  measurements: Measurement[];
  derived: Derived[];
  audits: Audit[];
  unavailable: Unavailable[];
}

/** Job ids of one target's comparisons, the newest measurement first. */
export function jobsOf(rows: readonly Comparison[]): string[] {
  const sorted = rows.toSorted((a, b) => (b.measured_at ?? '').localeCompare(a.measured_at ?? ''));
  return [...new Set(sorted.map(({ job_id: id }) => id))].filter((id) => typeof id === 'string');
}

function newest<T>(lists: readonly (readonly T[])[], key: (row: T) => string): T[] {
  const found = new Map<string, T>();
  for (const list of lists) {
    for (const row of list) if (!found.has(key(row))) found.set(key(row), row);
  }
  return [...found.values()];
}

/** A null that is an answer ("there is no crossover") speaks; one for lack of samples does not. */
function speaks({ value, answered }: Derived): boolean {
  return value !== null || answered;
}

/** `reports`: the newest first. */
export function evidenceOf(reports: readonly JobReport[], benchmark: string): Evidence {
  const own = <T extends { benchmark: string }>(rows: readonly T[]) =>
    rows.filter((row) => row.benchmark === benchmark);
  return {
    measurements: newest(
      reports.map(({ measurements }) => own(measurements)),
      (row) => [row.arm, row.metric, paramsKey(row.params)].join('|'),
    ),
    derived: newest(
      reports.map(({ derived }) => own(derived).filter(speaks)),
      (row) => [row.name, row.arm, paramsKey(row.params)].join('|'),
    ),
    audits: newest(
      reports.map(({ audits }) => own(audits ?? [])),
      (row) => paramsKey(row.params),
    ),
    unavailable: newest(
      reports.map(({ unavailable }) => own(unavailable ?? [])),
      (row) => [row.arm, paramsKey(row.params)].join('|'),
    ),
  };
}
