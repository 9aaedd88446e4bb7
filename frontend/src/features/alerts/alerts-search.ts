/** Parses the search values of the inbox; `at` is the alert that the keyboard selects. */
import type { AlertFilters } from '../../api/alerts';
import type { AlertCause, AlertKind, AlertState } from '../../api/types';
import { instantValue, oneOf, textValue } from '../../lib/search-values';

export const ALERT_STATE_VALUES: readonly AlertState[] = [
  'open',
  'acknowledged',
  'suspected',
  'inconclusive',
  'unconfirmed',
  'fixed',
  'expected',
  'invalid',
  'infra',
  'vanished',
];

export const ALERT_KIND_VALUES: readonly AlertKind[] = [
  'arm_slower',
  'history',
  'environment',
  'policy',
  'gate',
  'missing',
  'schedule',
  'schedule_missed',
  'quarantine',
  'agent_silent',
  'import_stopped',
];
export const ALERT_CAUSE_VALUES: readonly AlertCause[] = [
  'code',
  'environment',
  'target',
];

/** Parses a filter that is either set or absent. */
function flag(value: unknown): true | undefined {
  return value === true || value === 'true' ? true : undefined;
}

export interface AlertsSearch extends AlertFilters {
  at?: string | undefined;
}

export function parseAlertsSearch(
  search: Record<string, unknown>,
): AlertsSearch {
  return {
    state: oneOf(search['state'], ALERT_STATE_VALUES),
    suite: textValue(search['suite']),
    target: textValue(search['target']),
    assignee: textValue(search['assignee']),
    kind: oneOf(search['kind'], ALERT_KIND_VALUES),
    cause: oneOf(search['cause'], ALERT_CAUSE_VALUES),
    overdue: flag(search['overdue']),
    shadow: flag(search['shadow']),
    rule: textValue(search['rule']),
    text: textValue(search['text']),
    from: instantValue(search['from']),
    to: instantValue(search['to']),
    cursor: textValue(search['cursor']),
    at: textValue(search['at']),
  };
}
