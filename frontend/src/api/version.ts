/** Requests the release of the server. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';

export const versionQuery = queryOptions({
  queryKey: ['version'],
  queryFn: ({ signal }) => unwrap(client.GET('/api/v1/version', { signal })),
  staleTime: Infinity,
});
