/** Search values of /channels and of the delivery log of one channel. */
import { textValue } from '../../lib/search-values';

export interface ChannelsSearch {
  cursor?: string | undefined;
}

export function parseChannelsSearch(
  search: Record<string, unknown>,
): ChannelsSearch {
  return { cursor: textValue(search['cursor']) };
}
