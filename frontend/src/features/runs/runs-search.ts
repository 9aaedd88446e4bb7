/** Search values of the run pages. */
import type { RunFilters } from '../../api/runs';
import type { RunState, Trigger } from '../../api/types';
import { instantValue, oneOf, textValue } from '../../lib/search-values';

export const RUN_STATE_VALUES: readonly RunState[] = [
  'queued',
  'active',
  'done',
  'failed',
  'cancelled',
];
export const TRIGGER_VALUES: readonly Trigger[] = [
  'manual',
  'schedule',
  'ci',
  'confirm',
  'bisect',
  'a_a',
  'import',
  'recorded',
];

export function parseRunsSearch(search: Record<string, unknown>): RunFilters {
  return {
    suite: textValue(search['suite']),
    target: textValue(search['target']),
    state: oneOf(search['state'], RUN_STATE_VALUES),
    trigger: oneOf(search['trigger'], TRIGGER_VALUES),
    from: instantValue(search['from']),
    to: instantValue(search['to']),
    cursor: textValue(search['cursor']),
  };
}

export interface RunSearch {
  job?: string | undefined;
}

export function parseRunSearch(search: Record<string, unknown>): RunSearch {
  return { job: textValue(search['job']) };
}

/**
 * `commit` and, for an A/B run, `base` fill in the revisions: other pages link here with them. `repeat` is a
 * run whose whole request is filled in, with `launches` in place of its own where given.
 */
export interface NewRunSearch {
  suite?: string | undefined;
  commit?: string | undefined;
  base?: string | undefined;
  repeat?: string | undefined;
  launches?: number | undefined;
}

export function parseNewRunSearch(
  search: Record<string, unknown>,
): NewRunSearch {
  return {
    suite: textValue(search['suite']),
    commit: textValue(search['commit']),
    base: textValue(search['base']),
    repeat: textValue(search['repeat']),
    launches: launchesValue(search['launches']),
  };
}

/** Parses launches; values that the server would refuse become undefined. */
function launchesValue(value: unknown): number | undefined {
  const launches = Number(value);
  const isAccepted =
    Number.isInteger(launches) && launches >= 1 && launches <= 100;
  return isAccepted ? launches : undefined;
}
