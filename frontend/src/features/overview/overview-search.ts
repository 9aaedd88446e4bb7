/** Parses the search values of the overview: since when something counts as new. */
import { instantValue, oneOf } from '../../lib/search-values';

export interface OverviewSearch {
  /** An instant is the beginning of a day. */
  since?: string | undefined;
}

export function parseOverviewSearch(
  search: Record<string, unknown>,
): OverviewSearch {
  const { since } = search;
  return { since: oneOf(since, ['yesterday', 'visit']) ?? instantValue(since) };
}
