/** Search values of the pages of series. */
import type { SeriesFilters, Window } from '../../api/series';
import { oneOf, text } from '../../lib/search-values';

export interface SeriesListSearch extends Omit<SeriesFilters, 'changed'> {
  changed?: 'yes' | 'no' | undefined;
}

export function parseSeriesListSearch(
  search: Record<string, unknown>,
): SeriesListSearch {
  return {
    suite: text(search['suite']),
    benchmark: text(search['benchmark']),
    arm: text(search['arm']),
    metric: text(search['metric']),
    target: text(search['target']),
    branch: text(search['branch']),
    text: text(search['text']),
    changed: oneOf(search['changed'], ['yes', 'no']),
    cursor: text(search['cursor']),
  };
}

/** The window that is drawn, and the chosen point by its job. */
export interface SeriesSearch extends Window {
  point?: string | undefined;
}

const ZONED = /(?:Z|[+-]\d\d:?\d\d)$/;

/** An instant with its zone, as the server demands it; one that has it stays as fine as it is. */
function instant(value: unknown): string | undefined {
  const found = text(value);
  const ms = found === undefined ? Number.NaN : Date.parse(found);
  if (found === undefined || Number.isNaN(ms)) return undefined;
  return ZONED.test(found) ? found : new Date(ms).toISOString();
}

export function parseSeriesSearch(
  search: Record<string, unknown>,
): SeriesSearch {
  return {
    from: instant(search['from']),
    to: instant(search['to']),
    point: text(search['point']),
  };
}
