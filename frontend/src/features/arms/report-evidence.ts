/**
 * Collects what the reports of compared jobs add: measurements, derived rows, audits, unavailable arms.
 *
 * The newest report with a measurement counts; a newer report without audit findings replaces older findings.
 * Nothing is computed here.
 */
import type {
  Audit,
  Comparison,
  Derived,
  JobReport,
  Measurement,
  Unavailable,
} from '../../api/types';
import { paramsKey } from '../../lib/params';

export interface Evidence {
  measurements: Measurement[];
  derived: Derived[];
  audits: Audit[];
  unavailable: Unavailable[];
}

/** Returns the job ids of one target's comparisons, the newest measurement first. */
export function jobsOf(rows: readonly Comparison[]): string[] {
  const sorted = rows.toSorted((a, b) =>
    (b.measured_at ?? '').localeCompare(a.measured_at ?? ''),
  );
  return [...new Set(sorted.map(({ job_id: id }) => id))].filter(
    (id) => typeof id === 'string',
  );
}

function newest<T>(
  lists: readonly (readonly T[])[],
  key: (row: T) => string,
): T[] {
  const newestRows = new Map<string, T>();
  for (const list of lists) {
    for (const row of list)
      if (!newestRows.has(key(row))) newestRows.set(key(row), row);
  }
  return [...newestRows.values()];
}

/**
 * Returns the complaints that no newer report replaced, by a complaint of its own or by measuring without one.
 * Reports list only what is wrong, so a measurement without a complaint refutes older complaints about it.
 * `key` returns the subject of a complaint; `settles` returns the subjects that a measurement refutes.
 */
function findUnansweredComplaints<T>(
  reports: readonly {
    measurements: readonly Measurement[];
    complaints: readonly T[];
  }[],
  key: (row: T) => string,
  settles: (row: Measurement) => readonly string[],
): T[] {
  const answered = new Set<string>();
  const standingComplaints: T[] = [];
  for (const { measurements, complaints } of reports) {
    const open = complaints.filter((row) => !answered.has(key(row)));
    standingComplaints.push(...open);
    for (const answeredKey of [
      ...open.map(key),
      ...measurements.flatMap(settles),
    ])
      answered.add(answeredKey);
  }
  return standingComplaints;
}

function armKey({ arm, params }: Pick<Unavailable, 'arm' | 'params'>): string {
  return [arm, paramsKey(params)].join('|');
}

/** Returns whether a row has a result; null can be one ("no crossover") or mean that samples were lacking. */
function hasResult({ value, answered }: Derived): boolean {
  return value !== null || answered;
}

/** Collects the evidence from `reports`, which are ordered from newest to oldest. */
export function collectEvidence(
  reports: readonly JobReport[],
  benchmark: string,
): Evidence {
  const own = <T extends { benchmark: string }>(rows: readonly T[]) =>
    rows.filter((row) => row.benchmark === benchmark);
  return {
    measurements: newest(
      reports.map(({ measurements }) => own(measurements)),
      (row) => [row.arm, row.metric, paramsKey(row.params)].join('|'),
    ),
    derived: newest(
      reports.map(({ derived }) => own(derived).filter(hasResult)),
      (row) => [row.name, row.arm, paramsKey(row.params)].join('|'),
    ),
    audits: findUnansweredComplaints(
      reports.map(({ measurements, audits }) => ({
        measurements: own(measurements),
        complaints: own(audits ?? []),
      })),
      (row) => paramsKey(row.params),
      (row) => [paramsKey(row.params)],
    ),
    unavailable: findUnansweredComplaints(
      reports.map(({ measurements, unavailable }) => ({
        measurements: own(measurements),
        complaints: own(unavailable ?? []),
      })),
      armKey,
      // A complaint without params is about every point, so one measured point refutes it.
      (row) => [armKey(row), armKey({ arm: row.arm, params: {} })],
    ),
  };
}
