/** Requests the suites that agents announced or that were imported. */
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

/** Only suites that can be run: what another tool measured cannot. */
export const announcedSuitesQuery = queryOptions({
  ...suitesQuery,
  select: (page) => ({
    ...page,
    items: page.items.filter(({ imported }) => !imported),
  }),
});
