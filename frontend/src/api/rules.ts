/** Requests about rules, which turn findings into alerts: their versions, mutes and replays. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type {
  AppliedRule,
  Orphans,
  Page,
  Replay,
  Rule,
  RuleDetail,
  RuleKind,
  RuleMode,
  RuleRequest,
  RuleVersion,
  ShippedRule,
} from './types';

export interface RuleFilters {
  kind?: RuleKind | undefined;
  mode?: RuleMode | undefined;
  cursor?: string | undefined;
}

export const ruleKeys = {
  all: ['rules'] as const,
  lists: ['rules', 'list'] as const,
  rule: (id: string) => ['rules', 'one', id] as const,
  versions: (id: string) => ['rules', 'versions', id] as const,
};

export function rulesQuery(filters: RuleFilters) {
  return queryOptions({
    queryKey: [...ruleKeys.lists, filters],
    queryFn: ({ signal }): Promise<Page<Rule>> =>
      unwrap(
        client.GET('/api/v1/rules', {
          signal,
          params: { query: { ...filters, limit: 50 } },
        }),
      ),
  });
}

export function ruleQuery(id: string) {
  return queryOptions({
    queryKey: ruleKeys.rule(id),
    queryFn: ({ signal }): Promise<RuleDetail> =>
      unwrap(
        client.GET('/api/v1/rules/{rule_id}', {
          signal,
          params: { path: { rule_id: id } },
        }),
      ),
  });
}

export interface Measured {
  suite: string;
  benchmark: string;
  arm: string;
  metric: string;
  /** Name of the target. */
  target: string;
}

/** Returns the query of the rule of one kind that applies to a measurement. */
export function appliedRuleQuery(kind: RuleKind, about: Measured) {
  return queryOptions({
    queryKey: [...ruleKeys.all, 'applied', kind, about],
    queryFn: ({ signal }): Promise<AppliedRule> =>
      unwrap(
        client.GET('/api/v1/rules/applied', {
          signal,
          params: { query: { kind, ...about } },
        }),
      ),
    staleTime: 60_000,
  });
}

export function ruleVersionsQuery(id: string) {
  return queryOptions({
    queryKey: ruleKeys.versions(id),
    queryFn: ({ signal }): Promise<Page<RuleVersion>> =>
      unwrap(
        client.GET('/api/v1/rules/{rule_id}/versions', {
          signal,
          params: { path: { rule_id: id }, query: { limit: 50 } },
        }),
      ),
  });
}

export const shippedRulesQuery = queryOptions({
  queryKey: [...ruleKeys.all, 'shipped'],
  queryFn: ({ signal }): Promise<Page<ShippedRule>> =>
    unwrap(client.GET('/api/v1/rules/shipped', { signal })),
  staleTime: 60_000,
});

export const orphansQuery = queryOptions({
  queryKey: [...ruleKeys.all, 'orphans'],
  queryFn: ({ signal }): Promise<Orphans> =>
    unwrap(client.GET('/api/v1/rules/orphans', { signal })),
  staleTime: 60_000,
});

export function createRule(rule: RuleRequest): Promise<RuleDetail> {
  return unwrap(client.POST('/api/v1/rules', { body: rule }));
}

/** Saves a new version. `basedOn` is the version that was edited; the server answers 409 if there is a newer one. */
export function updateRule(
  id: string,
  rule: RuleRequest,
  basedOn: number,
): Promise<RuleDetail> {
  return unwrap(
    client.PUT('/api/v1/rules/{rule_id}', {
      params: { path: { rule_id: id } },
      body: { ...rule, based_on: basedOn },
    }),
  );
}

export async function deleteRule(id: string): Promise<void> {
  await unwrap(
    client.DELETE('/api/v1/rules/{rule_id}', {
      params: { path: { rule_id: id } },
    }),
  );
}

/** Returns the alerts that the rule would have raised; saves nothing. */
export function replayRule(
  rule: RuleRequest,
  ruleId: string | null,
  days: number,
): Promise<Replay> {
  return unwrap(
    client.POST('/api/v1/rules/replay', {
      body: { rule, rule_id: ruleId, days },
    }),
  );
}

export function muteRule(
  id: string,
  reason: string,
  hours: number,
): Promise<RuleDetail> {
  return unwrap(
    client.POST('/api/v1/rules/{rule_id}/mute', {
      params: { path: { rule_id: id } },
      body: { reason, hours },
    }),
  );
}

export function unmuteRule(id: string): Promise<RuleDetail> {
  return unwrap(
    client.POST('/api/v1/rules/{rule_id}/unmute', {
      params: { path: { rule_id: id } },
    }),
  );
}
