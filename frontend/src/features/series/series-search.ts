/** Search values of the pages of series. */
import type { SeriesFilters, Window } from '../../api/series';
import { instantValue, oneOf, textValue } from '../../lib/search-values';

export interface SeriesListSearch extends Omit<SeriesFilters, 'changed'> {
  changed?: 'yes' | 'no' | undefined;
}

export function parseSeriesListSearch(
  search: Record<string, unknown>,
): SeriesListSearch {
  return {
    suite: textValue(search['suite']),
    benchmark: textValue(search['benchmark']),
    arm: textValue(search['arm']),
    metric: textValue(search['metric']),
    target: textValue(search['target']),
    branch: textValue(search['branch']),
    text: textValue(search['text']),
    changed: oneOf(search['changed'], ['yes', 'no']),
    from: instantValue(search['from']),
    to: instantValue(search['to']),
    cursor: textValue(search['cursor']),
  };
}

/** The window that is drawn, and the chosen point by its job. */
export interface SeriesSearch extends Window {
  point?: string | undefined;
}

const ZONED = /(?:Z|[+-]\d\d:?\d\d)$/;

/** Parses an instant. The server requires a time zone; one without gets the visitor's. */
function instant(value: unknown): string | undefined {
  const given = textValue(value);
  const ms = given === undefined ? Number.NaN : Date.parse(given);
  if (given === undefined || Number.isNaN(ms)) return undefined;
  return ZONED.test(given) ? given : new Date(ms).toISOString();
}

export function parseSeriesSearch(
  search: Record<string, unknown>,
): SeriesSearch {
  return {
    from: instant(search['from']),
    to: instant(search['to']),
    point: textValue(search['point']),
  };
}
