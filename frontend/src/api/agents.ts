/** Requests about agents: their grants, credentials and claims to targets. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type {
  EnrolledAgent,
  EnrolmentCode,
  EnrolmentRequest,
  Grant,
  Page,
  TargetClaim,
} from './types';

export const agentKeys = {
  all: ['enrolled-agents'],
  claims: ['target-claims'],
} as const;

export function agentsQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: [...agentKeys.all, cursor ?? ''],
    queryFn: ({ signal }): Promise<Page<EnrolledAgent>> =>
      unwrap(
        client.GET('/api/v1/installation/agents', {
          signal,
          params: { query: { limit: 50, cursor } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
}

export const openClaimsQuery = queryOptions({
  queryKey: agentKeys.claims,
  queryFn: ({ signal }): Promise<Page<TargetClaim>> =>
    unwrap(
      client.GET('/api/v1/installation/claims', {
        signal,
        params: { query: { state: 'open', limit: 200 } },
      }),
    ),
  refetchInterval: 10_000,
});

/** The code is shown only in this answer. */
export function createEnrolmentCode(
  request: EnrolmentRequest,
): Promise<EnrolmentCode> {
  return unwrap(
    client.POST('/api/v1/agents/enrolment-codes', { body: request }),
  );
}

export function setGrant(id: string, grant: Grant): Promise<EnrolledAgent> {
  return unwrap(
    client.PUT('/api/v1/installation/agents/{agent_id}/grant', {
      params: { path: { agent_id: id } },
      body: grant,
    }),
  );
}

export function setSilenceLimit(
  id: string,
  limitS: number | null,
): Promise<EnrolledAgent> {
  return unwrap(
    client.PUT('/api/v1/installation/agents/{agent_id}/silence-limit', {
      params: { path: { agent_id: id } },
      body: { limit_s: limitS },
    }),
  );
}

export function rotateAgent(id: string): Promise<EnrolledAgent> {
  return unwrap(
    client.POST('/api/v1/installation/agents/{agent_id}/rotate', {
      params: { path: { agent_id: id } },
    }),
  );
}

export function revokeAgent(id: string): Promise<EnrolledAgent> {
  return unwrap(
    client.POST('/api/v1/installation/agents/{agent_id}/revoke', {
      params: { path: { agent_id: id } },
    }),
  );
}

export function moveClaimedTarget(id: string): Promise<TargetClaim> {
  return unwrap(
    client.POST('/api/v1/installation/claims/{claim_id}/move', {
      params: { path: { claim_id: id } },
    }),
  );
}

export function dismissClaim(id: string): Promise<TargetClaim> {
  return unwrap(
    client.POST('/api/v1/installation/claims/{claim_id}/dismiss', {
      params: { path: { claim_id: id } },
    }),
  );
}
