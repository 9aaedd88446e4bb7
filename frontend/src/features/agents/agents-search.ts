/** Search values of the list of agents. */
import { textValue } from '../../lib/search-values';

export interface AgentsSearch {
  cursor?: string | undefined;
}

export function parseAgentsSearch(
  search: Record<string, unknown>,
): AgentsSearch {
  return { cursor: textValue(search['cursor']) };
}
