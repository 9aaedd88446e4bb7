/** Search values of the policies page. */
import type { PolicyFilters } from '../../api/policies';
import { textValue } from '../../lib/search-values';

export type PoliciesSearch = PolicyFilters;

export function parsePoliciesSearch(
  search: Record<string, unknown>,
): PoliciesSearch {
  return {
    suite: textValue(search['suite']),
    target: textValue(search['target']),
  };
}
