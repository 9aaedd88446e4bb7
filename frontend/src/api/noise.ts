/** Requests about noisy targets and the noise floors that A/A jobs measured. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { NoiseFloor, Page, TargetsNoise } from './types';

export interface NoiseFilters {
  suite?: string | undefined;
  target?: string | undefined;
  cursor?: string | undefined;
}

export function noiseFloorsQuery(filters: NoiseFilters) {
  return queryOptions({
    queryKey: ['noise-floors', filters],
    queryFn: ({ signal }): Promise<Page<NoiseFloor>> =>
      unwrap(
        client.GET('/api/v1/noise-floors', {
          signal,
          params: { query: { ...filters, limit: 50 } },
        }),
      ),
  });
}

export const targetsNoiseQuery = queryOptions({
  queryKey: ['targets-by-noise'],
  queryFn: ({ signal }): Promise<TargetsNoise> =>
    unwrap(client.GET('/api/v1/targets-by-noise', { signal })),
});
