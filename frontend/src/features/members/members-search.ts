/** Parses the search values of /members: the cursors of its two lists. */
import { textValue } from '../../lib/search-values';

export interface MembersSearch {
  members?: string | undefined;
  invitations?: string | undefined;
}

export function parseMembersSearch(
  search: Record<string, unknown>,
): MembersSearch {
  return {
    members: textValue(search['members']),
    invitations: textValue(search['invitations']),
  };
}
