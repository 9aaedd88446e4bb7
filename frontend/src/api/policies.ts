/** Requests usage policy advice: the value from which an arm wins on a target, compared with the policy in force. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { Page, PolicyAdvice } from './types';

export interface PolicyFilters {
  suite?: string | undefined;
  target?: string | undefined;
}

export function policiesQuery(filters: PolicyFilters) {
  return queryOptions({
    queryKey: ['policies', filters],
    queryFn: ({ signal }): Promise<Page<PolicyAdvice>> =>
      unwrap(
        client.GET('/api/v1/policies', {
          signal,
          params: { query: { ...filters, limit: 50 } },
        }),
      ),
  });
}

/** Returns the query of all advice on this policy and target, newest first. */
export function policyHistoryQuery(of: PolicyAdvice) {
  const query = {
    suite: of.suite,
    policy: of.policy,
    target: of.target_id,
    params: JSON.stringify(of.params),
    limit: 50,
  };
  return queryOptions({
    queryKey: ['policies', 'history', query],
    queryFn: ({ signal }): Promise<Page<PolicyAdvice>> =>
      unwrap(
        client.GET('/api/v1/policies/history', { signal, params: { query } }),
      ),
  });
}
