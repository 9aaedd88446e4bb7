/**
 * Caching policy: a refused request is never repeated; a request without an answer is tried twice more, also by a browser
 * that is offline. Otherwise it would wait, and the page would show older rows under a new filter without saying so.
 */
import { QueryClient } from '@tanstack/react-query';

import { isApiError } from './errors';

const ATTEMPTS = 2;

export function createQueryClient({
  retryDelayMs = 800,
}: { retryDelayMs?: number } = {}): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        networkMode: 'always',
        staleTime: 2_000,
        refetchOnWindowFocus: true,
        retry: (failures, error) =>
          isApiError(error) && error.status === 0 && failures < ATTEMPTS,
        retryDelay: retryDelayMs,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}
