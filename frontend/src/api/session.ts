/** Requests about the signed-in account and its permissions. The session is a cookie that this code cannot read. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { Account, Page, Permission, Session } from './types';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }): Promise<Session> =>
    unwrap(client.GET('/api/v1/session', { signal })),
  staleTime: 5 * 60_000,
  retry: false,
});

export const accountsQuery = queryOptions({
  queryKey: ['accounts'],
  queryFn: ({ signal }): Promise<Page<Account>> =>
    unwrap(
      client.GET('/api/v1/accounts', {
        signal,
        params: { query: { limit: 200 } },
      }),
    ),
  staleTime: 60_000,
});

export function signInByLink(token: string): Promise<Session> {
  return unwrap(client.POST('/api/v1/session/link', { body: { token } }));
}

export function signInByPassword(
  email: string,
  password: string,
): Promise<Session> {
  return unwrap(client.POST('/api/v1/session', { body: { email, password } }));
}

export async function signOut(): Promise<void> {
  await unwrap(client.DELETE('/api/v1/session'));
}

/** Returns whether the person has a permission in the project of the page. */
export function may(
  session: Session | undefined,
  permission: Permission,
): boolean {
  return session?.permissions.includes(permission) ?? false;
}
