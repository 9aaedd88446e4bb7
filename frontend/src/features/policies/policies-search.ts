/** Search values of the policies page. */
import type { PolicyFilters } from '../../api/policies';
import { text } from '../../lib/search-values';

export type PoliciesSearch = PolicyFilters;

export function parsePoliciesSearch(
  search: Record<string, unknown>,
): PoliciesSearch {
  return { suite: text(search['suite']), target: text(search['target']) };
}
