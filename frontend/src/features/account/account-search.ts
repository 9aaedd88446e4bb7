/** Search values of /account. */
import { textValue } from '../../lib/search-values';

export interface AccountSearch {
  cursor?: string | undefined;
}

export function parseAccountSearch(
  search: Record<string, unknown>,
): AccountSearch {
  return { cursor: textValue(search['cursor']) };
}
