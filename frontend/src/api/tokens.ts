/** Requests about the project's tokens for programs such as CI. A secret is in one answer only. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { CreatedToken, Page, Permission, Token } from './types';

export const tokensKey = ['tokens'] as const;

export function tokensQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: [...tokensKey, cursor],
    queryFn: ({ signal }): Promise<Page<Token>> =>
      unwrap(
        client.GET('/api/v1/tokens', {
          signal,
          params: { query: { cursor, limit: 50 } },
        }),
      ),
  });
}

export interface NewToken {
  name: string;
  permissions: Permission[];
  expires_in_days: number | null;
}

export function createToken(token: NewToken): Promise<CreatedToken> {
  return unwrap(client.POST('/api/v1/tokens', { body: token }));
}

export async function revokeToken(id: string): Promise<void> {
  await unwrap(
    client.DELETE('/api/v1/tokens/{token_id}', {
      params: { path: { token_id: id } },
    }),
  );
}
