/** Requests about alerts and their triage. Writes return the whole alert, which replaces the one in the cache. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type {
  Alert,
  AlertAction,
  AlertCause,
  AlertDetail,
  AlertKind,
  AlertState,
  BulkRequest,
  Explanation,
  Page,
  TriageBatch,
} from './types';

export interface AlertFilters {
  state?: AlertState | undefined;
  suite?: string | undefined;
  target?: string | undefined;
  assignee?: string | undefined;
  kind?: AlertKind | undefined;
  cause?: AlertCause | undefined;
  overdue?: boolean | undefined;
  shadow?: boolean | undefined;
  rule?: string | undefined;
  text?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
}

export const alertKeys = {
  all: ['alerts'] as const,
  lists: ['alerts', 'list'] as const,
  alert: (id: string) => ['alerts', 'one', id] as const,
  explanation: (id: string) => ['alerts', 'explanation', id] as const,
};

export function alertsQuery(filters: AlertFilters) {
  return queryOptions({
    queryKey: [...alertKeys.lists, filters],
    queryFn: ({ signal }): Promise<Page<Alert>> =>
      unwrap(
        client.GET('/api/v1/alerts', {
          signal,
          params: { query: { ...filters, limit: 50 } },
        }),
      ),
    refetchInterval: 30_000,
  });
}

export function alertQuery(id: string) {
  return queryOptions({
    queryKey: alertKeys.alert(id),
    queryFn: ({ signal }): Promise<AlertDetail> =>
      unwrap(
        client.GET('/api/v1/alerts/{alert_id}', {
          signal,
          params: { path: { alert_id: id } },
        }),
      ),
  });
}

/** Returns the query of an explanation; `again` recomputes every finding from stored samples, which is slow. */
export function explanationQuery(id: string, again: boolean) {
  return queryOptions({
    queryKey: [...alertKeys.explanation(id), again],
    queryFn: ({ signal }): Promise<Explanation> =>
      unwrap(
        client.GET('/api/v1/alerts/{alert_id}/explain', {
          signal,
          params: { path: { alert_id: id }, query: { rederive: again } },
        }),
      ),
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
}

/** Starts a bisection; `budget` is the most A/B jobs it may start, null the server's default. */
export function bisectAlert(
  id: string,
  budget: number | null,
): Promise<AlertDetail> {
  return unwrap(
    client.POST('/api/v1/alerts/{alert_id}/bisect', {
      params: { path: { alert_id: id } },
      body: { budget },
    }),
  );
}

export interface Decision {
  action: AlertAction;
  note?: string | undefined;
  /** Commit from which the new baseline counts, for the decision `expected` about a change in history. */
  baselineCommit?: string | undefined;
}

export function actOnAlert(
  id: string,
  decision: Decision,
): Promise<AlertDetail> {
  const { action, note, baselineCommit } = decision;
  return unwrap(
    client.POST('/api/v1/alerts/{alert_id}/actions', {
      params: { path: { alert_id: id } },
      body: {
        action,
        ...(note === undefined || note === '' ? {} : { note }),
        ...(baselineCommit === undefined
          ? {}
          : { baseline_commit: baselineCommit }),
      },
    }),
  );
}

/** Decides on all of the alerts or none; a refusal has the reason of each in its `fields`. */
export function decideInBulk(decision: BulkRequest): Promise<TriageBatch> {
  return unwrap(client.POST('/api/v1/alerts/bulk', { body: decision }));
}

export function undoBulk(batchId: string): Promise<TriageBatch> {
  return unwrap(
    client.POST('/api/v1/alerts/bulk/{batch_id}/undo', {
      params: { path: { batch_id: batchId } },
    }),
  );
}

export function setAlertDue(
  id: string,
  dueAt: string | null,
): Promise<AlertDetail> {
  return unwrap(
    client.PUT('/api/v1/alerts/{alert_id}/due', {
      params: { path: { alert_id: id } },
      body: { due_at: dueAt },
    }),
  );
}

export function linkAlertIssue(
  id: string,
  url: string | null,
): Promise<AlertDetail> {
  return unwrap(
    client.PUT('/api/v1/alerts/{alert_id}/issue', {
      params: { path: { alert_id: id } },
      body: { url },
    }),
  );
}

export function addAlertNote(id: string, note: string): Promise<AlertDetail> {
  return unwrap(
    client.POST('/api/v1/alerts/{alert_id}/notes', {
      params: { path: { alert_id: id } },
      body: { note },
    }),
  );
}

/** Mutes the rule behind the alert; the server creates one if only a rule of the suite applies. */
export function muteAlert(
  id: string,
  reason: string,
  hours: number,
): Promise<AlertDetail> {
  return unwrap(
    client.POST('/api/v1/alerts/{alert_id}/mute', {
      params: { path: { alert_id: id } },
      body: { reason, hours },
    }),
  );
}

export function assignAlert(
  id: string,
  accountId: string | null,
): Promise<AlertDetail> {
  return unwrap(
    client.PUT('/api/v1/alerts/{alert_id}/assignee', {
      params: { path: { alert_id: id } },
      body: { account_id: accountId },
    }),
  );
}
