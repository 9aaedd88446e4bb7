/** Search values of /arms; `point` is `comparisonKey` of the chosen row. */
import { text } from '../../lib/search';

export interface ArmsSearch {
  suite?: string | undefined;
  benchmark?: string | undefined;
  metric?: string | undefined;
  target?: string | undefined;
  point?: string | undefined;
}

export function parseArmsSearch(search: Record<string, unknown>): ArmsSearch {
  return {
    suite: text(search['suite']),
    benchmark: text(search['benchmark']),
    metric: text(search['metric']),
    target: text(search['target']),
    point: text(search['point']),
  };
}
