/** Search values of the noise page. */
import type { NoiseFilters } from '../../api/noise';
import { text } from '../../lib/search-values';

export type NoiseSearch = NoiseFilters;

export function parseNoiseSearch(search: Record<string, unknown>): NoiseSearch {
  return {
    suite: text(search['suite']),
    target: text(search['target']),
    cursor: text(search['cursor']),
  };
}
