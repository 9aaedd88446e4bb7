/** Requests the suites that agents announced. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { Page, Suite } from './types';

export const suitesQuery = queryOptions({
  queryKey: ['suites'],
  queryFn: ({ signal }): Promise<Page<Suite>> =>
    unwrap(
      client.GET('/api/v1/suites', {
        signal,
        params: { query: { limit: 200 } },
      }),
    ),
  staleTime: 30_000,
});
