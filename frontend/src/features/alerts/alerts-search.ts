/** Search values of the inbox; `at` is the alert the keyboard stands on. */
import type { AlertFilters } from '../../api/alerts';
import type { AlertState } from '../../api/types';
import { oneOf, text } from '../../lib/search';

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

export interface AlertsSearch extends AlertFilters {
  at?: string | undefined;
}

export function parseAlertsSearch(search: Record<string, unknown>): AlertsSearch {
  return {
    state: oneOf(search['state'], ALERT_STATE_VALUES),
    suite: text(search['suite']),
    target: text(search['target']),
    assignee: text(search['assignee']),
    cursor: text(search['cursor']),
    at: text(search['at']),
  };
}
