/** Alerts and their triage. Writes answer the whole alert, so the cache holds what the server decided. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { Alert, AlertAction, AlertDetail, AlertState, Explanation, Page } from './types';

export interface AlertFilters {
  state?: AlertState | undefined;
  suite?: string | undefined;
  target?: string | undefined;
  assignee?: string | undefined;
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
      unwrap(client.GET('/api/v1/alerts', { signal, params: { query: { ...filters, limit: 50 } } })),
    refetchInterval: 30_000,
  });
}

export function alertQuery(id: string) {
  return queryOptions({
    queryKey: alertKeys.alert(id),
    queryFn: ({ signal }): Promise<AlertDetail> =>
      unwrap(client.GET('/api/v1/alerts/{alert_id}', { signal, params: { path: { alert_id: id } } })),
  });
}

/** `again`: every finding is also made once more from stored samples, which takes the server a while. */
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

/** `budget`: A/B jobs it may ask for; null: as the server is set. */
export function bisectAlert(id: string, budget: number | null): Promise<AlertDetail> {
  return unwrap(
    client.POST('/api/v1/alerts/{alert_id}/bisect', { params: { path: { alert_id: id } }, body: { budget } }),
  );
}

export interface Decision {
  action: AlertAction;
  note?: string | undefined;
}

export function actOnAlert(id: string, { action, note }: Decision): Promise<AlertDetail> {
  return unwrap(
    client.POST('/api/v1/alerts/{alert_id}/actions', {
      params: { path: { alert_id: id } },
      body: note === undefined || note === '' ? { action } : { action, note },
    }),
  );
}

export function addAlertNote(id: string, note: string): Promise<AlertDetail> {
  return unwrap(
    client.POST('/api/v1/alerts/{alert_id}/notes', { params: { path: { alert_id: id } }, body: { note } }),
  );
}

export function assignAlert(id: string, accountId: string | null): Promise<AlertDetail> {
  return unwrap(
    client.PUT('/api/v1/alerts/{alert_id}/assignee', {
      params: { path: { alert_id: id } },
      body: { account_id: accountId },
    }),
  );
}
