/** Requests about the signed-in account: its sessions and its password. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { BrowserSession, Page, Session } from './types';

export const ownSessionsKey = ['own-sessions'] as const;

export function ownSessionsQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: [...ownSessionsKey, cursor],
    queryFn: ({ signal }): Promise<Page<BrowserSession>> =>
      unwrap(
        client.GET('/api/v1/account/sessions', {
          signal,
          params: { query: { cursor, limit: 50 } },
        }),
      ),
  });
}

export async function endSession(id: string): Promise<void> {
  await unwrap(
    client.DELETE('/api/v1/account/sessions/{session_id}', {
      params: { path: { session_id: id } },
    }),
  );
}

export async function endOtherSessions(): Promise<void> {
  await unwrap(client.DELETE('/api/v1/account/sessions'));
}

/** Changes the password; `current` is null for an account that has none yet. */
export function changePassword(
  current: string | null,
  password: string,
): Promise<Session> {
  return unwrap(
    client.PUT('/api/v1/account/password', { body: { current, password } }),
  );
}

export function resetPassword(
  token: string,
  password: string,
): Promise<Session> {
  return unwrap(
    client.POST('/api/v1/session/reset', { body: { token, password } }),
  );
}
