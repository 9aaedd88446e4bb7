/** What the server sums up for reading: the overview and the arms of a benchmark. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { Arms, Overview } from './types';

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }): Promise<Overview> => unwrap(client.GET('/api/v1/overview', { signal })),
  refetchInterval: 10_000,
});

export interface ArmsFilters {
  suite: string;
  benchmark: string;
  metric?: string | undefined;
  target?: string | undefined;
}

export function armsQuery(filters: ArmsFilters) {
  return queryOptions({
    queryKey: ['arms', filters],
    queryFn: ({ signal }): Promise<Arms> =>
      unwrap(client.GET('/api/v1/arms', { signal, params: { query: filters } })),
  });
}
