/** Parses the search values of /installation: the text that finds accounts. */
import { textValue } from '../../lib/search-values';

export interface InstallationSearch {
  q?: string | undefined;
  cursor?: string | undefined;
}

export function parseInstallationSearch(
  search: Record<string, unknown>,
): InstallationSearch {
  return { q: textValue(search['q']), cursor: textValue(search['cursor']) };
}
