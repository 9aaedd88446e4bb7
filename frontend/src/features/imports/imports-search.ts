/** Search values of the list of imports. */
import type { ImportFilters } from '../../api/imports';
import { textValue } from '../../lib/search-values';

export function parseImportsSearch(
  search: Record<string, unknown>,
): ImportFilters {
  return { cursor: textValue(search['cursor']) };
}
