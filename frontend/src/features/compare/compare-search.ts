/** Search values of /compare: two runs or two revisions, and the filters. */
import { oneOf, textValue } from '../../lib/search-values';

export interface CompareSearch {
  base?: string | undefined;
  head?: string | undefined;
  suite?: string | undefined;
  target?: string | undefined;
  benchmark?: string | undefined;
  metric?: string | undefined;
  /** Shows only rows that differ clearly. */
  only?: 'clear' | undefined;
}

/** Props of the parts of the page that read and change the address. */
export interface CompareSearchProps {
  search: CompareSearch;
  onSearch: (search: CompareSearch) => void;
}

export function parseCompareSearch(
  search: Record<string, unknown>,
): CompareSearch {
  return {
    base: textValue(search['base']),
    head: textValue(search['head']),
    suite: textValue(search['suite']),
    target: textValue(search['target']),
    benchmark: textValue(search['benchmark']),
    metric: textValue(search['metric']),
    only: oneOf(search['only'], ['clear']),
  };
}
