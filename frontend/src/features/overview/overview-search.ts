/** Parses the search values of the overview: the instant since which something counts as new. */
import { instantValue, oneOf } from '../../lib/search-values';

export interface OverviewSearch {
  /** An instant means the day that begins then. */
  since?: string | undefined;
}

export function parseOverviewSearch(
  search: Record<string, unknown>,
): OverviewSearch {
  const { since } = search;
  return { since: oneOf(since, ['yesterday', 'visit']) ?? instantValue(since) };
}
