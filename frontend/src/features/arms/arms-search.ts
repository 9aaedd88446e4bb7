/**
 * Search values of /arms: what is compared and how it is shown, so that an address shares the very picture.
 * `point` is `comparisonKey` of the chosen row, `at` the values of the params that are not on the x axis
 * (`message=150`), `hide` the arms switched off.
 */
import { oneOf, text } from '../../lib/search-values';

export const SHOWS = ['ratio', 'value'] as const;
export const PERS = ['iteration', 'item', 'byte'] as const;
export const ROWS = ['shown', 'all'] as const;

export interface ArmsSearch {
  suite?: string | undefined;
  benchmark?: string | undefined;
  metric?: string | undefined;
  target?: string | undefined;
  x?: string | undefined;
  at?: string | undefined;
  show?: (typeof SHOWS)[number] | undefined;
  per?: (typeof PERS)[number] | undefined;
  hide?: string | undefined;
  rows?: (typeof ROWS)[number] | undefined;
  point?: string | undefined;
}

export function parseArmsSearch(search: Record<string, unknown>): ArmsSearch {
  return {
    suite: text(search['suite']),
    benchmark: text(search['benchmark']),
    metric: text(search['metric']),
    target: text(search['target']),
    x: text(search['x']),
    at: text(search['at']),
    show: oneOf(search['show'], SHOWS),
    per: oneOf(search['per'], PERS),
    hide: text(search['hide']),
    rows: oneOf(search['rows'], ROWS),
    point: text(search['point']),
  };
}
