/** Search values of the noise page. */
import type { NoiseFilters } from '../../api/noise';
import { textValue } from '../../lib/search-values';

export type NoiseSearch = NoiseFilters;

export function parseNoiseSearch(search: Record<string, unknown>): NoiseSearch {
  return {
    suite: textValue(search['suite']),
    target: textValue(search['target']),
    cursor: textValue(search['cursor']),
  };
}
