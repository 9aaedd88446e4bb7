/**
 * Parses the search values of /arms, which select what is compared and how it is drawn.
 * `point` is the `comparisonKey` of the selected row, `at` the values of the params that are not on the x axis
 * (`message=150`), `hide` the arms switched off.
 */
import { oneOf, textValue } from '../../lib/search-values';

export const SHOW_VALUES = ['ratio', 'value'] as const;
export const PER_UNITS = ['iteration', 'item', 'byte'] as const;
export const ROW_VALUES = ['shown', 'all'] as const;

export interface ArmsSearch {
  suite?: string | undefined;
  benchmark?: string | undefined;
  metric?: string | undefined;
  target?: string | undefined;
  x?: string | undefined;
  at?: string | undefined;
  show?: (typeof SHOW_VALUES)[number] | undefined;
  per?: (typeof PER_UNITS)[number] | undefined;
  hide?: string | undefined;
  rows?: (typeof ROW_VALUES)[number] | undefined;
  point?: string | undefined;
}

export function parseArmsSearch(search: Record<string, unknown>): ArmsSearch {
  return {
    suite: textValue(search['suite']),
    benchmark: textValue(search['benchmark']),
    metric: textValue(search['metric']),
    target: textValue(search['target']),
    x: textValue(search['x']),
    at: textValue(search['at']),
    show: oneOf(search['show'], SHOW_VALUES),
    per: oneOf(search['per'], PER_UNITS),
    hide: textValue(search['hide']),
    rows: oneOf(search['rows'], ROW_VALUES),
    point: textValue(search['point']),
  };
}
