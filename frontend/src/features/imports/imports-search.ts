/** Search values of the list of imports. */
import type { ImportFilters } from '../../api/imports';
import { text } from '../../lib/search-values';

export function parseImportsSearch(
  search: Record<string, unknown>,
): ImportFilters {
  return { cursor: text(search['cursor']) };
}
