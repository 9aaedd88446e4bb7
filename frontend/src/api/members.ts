/** Requests about members and invitations of the project. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type {
  CreatedInvitation,
  Invitation,
  InvitationOffer,
  Member,
  Page,
  Role,
  Session,
} from './types';

export const memberKeys = {
  all: ['members'] as const,
  invitations: ['invitations'] as const,
};

export function membersQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: [...memberKeys.all, cursor],
    queryFn: ({ signal }): Promise<Page<Member>> =>
      unwrap(
        client.GET('/api/v1/members', {
          signal,
          params: { query: { cursor, limit: 50 } },
        }),
      ),
  });
}

export function invitationsQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: [...memberKeys.invitations, cursor],
    queryFn: ({ signal }): Promise<Page<Invitation>> =>
      unwrap(
        client.GET('/api/v1/invitations', {
          signal,
          params: { query: { cursor, limit: 50 } },
        }),
      ),
  });
}

export function changeRole(accountId: string, role: Role): Promise<Member> {
  return unwrap(
    client.PUT('/api/v1/members/{account_id}', {
      params: { path: { account_id: accountId } },
      body: { role },
    }),
  );
}

export async function removeMember(accountId: string): Promise<void> {
  await unwrap(
    client.DELETE('/api/v1/members/{account_id}', {
      params: { path: { account_id: accountId } },
    }),
  );
}

export function invite(email: string, role: Role): Promise<CreatedInvitation> {
  return unwrap(client.POST('/api/v1/invitations', { body: { email, role } }));
}

export async function revokeInvitation(id: string): Promise<void> {
  await unwrap(
    client.DELETE('/api/v1/invitations/{invitation_id}', {
      params: { path: { invitation_id: id } },
    }),
  );
}

export function showInvitation(token: string): Promise<InvitationOffer> {
  return unwrap(
    client.POST('/api/v1/session/invitation/offer', { body: { token } }),
  );
}

export interface NewPerson {
  token: string;
  email: string;
  name: string;
  password: string;
}

export function acceptWithNewAccount(person: NewPerson): Promise<Session> {
  return unwrap(client.POST('/api/v1/session/invitation', { body: person }));
}

/** Joins with the signed-in account; returns the name of the project. */
export async function acceptInvitation(token: string): Promise<string> {
  const joined = await unwrap(
    client.POST('/api/v1/account/invitations', { body: { token } }),
  );
  return joined.project;
}
