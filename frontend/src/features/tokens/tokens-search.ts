/** Search values of /tokens. */
import { textValue } from '../../lib/search-values';

export interface TokensSearch {
  cursor?: string | undefined;
}

export function parseTokensSearch(
  search: Record<string, unknown>,
): TokensSearch {
  return { cursor: textValue(search['cursor']) };
}
