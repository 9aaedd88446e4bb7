/**
 * Triages one alert. Changes show at once; a refusal restores the old state with its reason, and an answer
 * of the server replaces the optimistic state.
 */
import { notifications } from '@mantine/notifications';
import {
  useMutation,
  useQueryClient,
  type QueryClient,
} from '@tanstack/react-query';

import {
  actOnAlert,
  addAlertNote,
  alertKeys,
  assignAlert,
  linkAlertIssue,
  setAlertDue,
} from '../../api/alerts';
import { overviewQuery } from '../../api/reports';
import type {
  Account,
  Alert,
  AlertAction,
  AlertDetail,
  AlertState,
  Page,
} from '../../api/types';
import { ACTION_LABELS } from '../../ui/state-badges';

const STATE_AFTER: Record<AlertAction, AlertState> = {
  acknowledge: 'acknowledged',
  fixed: 'fixed',
  expected: 'expected',
  invalid: 'invalid',
  infra: 'infra',
  reopen: 'open',
};

/** Returns whether marking the alert as expected starts a new baseline; it does for alerts about levels of series. */
export function needsBaseline({ kind }: Pick<Alert, 'kind'>): boolean {
  return kind === 'history' || kind === 'environment';
}

interface Snapshot {
  restore: () => void;
}

async function applyOptimistically(
  client: QueryClient,
  id: string,
  change: Partial<Alert>,
): Promise<Snapshot> {
  await client.cancelQueries({ queryKey: alertKeys.all });
  const lists = client.getQueriesData<Page<Alert>>({
    queryKey: alertKeys.lists,
  });
  const detail = client.getQueryData<AlertDetail>(alertKeys.alert(id));
  for (const [key, page] of lists) {
    if (page === undefined) continue;
    const items = page.items.map((alert) =>
      alert.id === id ? { ...alert, ...change } : alert,
    );
    client.setQueryData<Page<Alert>>(key, { ...page, items });
  }
  if (detail !== undefined)
    client.setQueryData<AlertDetail>(alertKeys.alert(id), {
      ...detail,
      ...change,
    });
  return {
    restore: () => {
      for (const [key, page] of lists) client.setQueryData(key, page);
      if (detail !== undefined)
        client.setQueryData(alertKeys.alert(id), detail);
    },
  };
}

function showRefusal(what: string, error: Error): void {
  notifications.show({
    color: 'red',
    title: `${what}: not done`,
    message: `${error.message} Nothing was changed.`,
  });
}

function useTriageCache() {
  const client = useQueryClient();
  return {
    accept: (alert: AlertDetail) =>
      client.setQueryData(alertKeys.alert(alert.id), alert),
    refetch: () => {
      void client.invalidateQueries({ queryKey: alertKeys.lists });
      void client.invalidateQueries({ queryKey: overviewQuery.queryKey });
    },
  };
}

export interface AlertActionInput {
  id: string;
  action: AlertAction;
  note?: string | undefined;
  baselineCommit?: string | undefined;
}

export function useAlertAction() {
  const client = useQueryClient();
  const { accept, refetch } = useTriageCache();
  return useMutation({
    mutationFn: ({ id, ...decision }: AlertActionInput) =>
      actOnAlert(id, decision),
    onMutate: ({ id, action }) =>
      applyOptimistically(client, id, { state: STATE_AFTER[action] }),
    onError: (error, { action }, snapshot) => {
      snapshot?.restore();
      showRefusal(ACTION_LABELS[action].label, error);
    },
    onSuccess: (alert, { action }) => {
      accept(alert);
      notifications.show({
        color: 'pace',
        message: `“${alert.title}” ${ACTION_LABELS[action].done}.`,
      });
    },
    onSettled: refetch,
  });
}

export function useAssign() {
  const client = useQueryClient();
  const { accept, refetch } = useTriageCache();
  return useMutation({
    mutationFn: ({ id, account }: { id: string; account: Account | null }) =>
      assignAlert(id, account?.id ?? null),
    onMutate: ({ id, account }) =>
      applyOptimistically(client, id, { assignee: account }),
    onError: (error, _input, snapshot) => {
      snapshot?.restore();
      showRefusal('Assign', error);
    },
    onSuccess: accept,
    onSettled: refetch,
  });
}

/** Not optimistic: a note must not look saved before it is. */
export function useAddNote() {
  const { accept } = useTriageCache();
  return useMutation({
    mutationFn: ({ id, note }: { id: string; note: string }) =>
      addAlertNote(id, note),
    onSuccess: accept,
  });
}

export function useSetDue() {
  const { accept, refetch } = useTriageCache();
  return useMutation({
    mutationFn: ({ id, dueAt }: { id: string; dueAt: string | null }) =>
      setAlertDue(id, dueAt),
    onSuccess: accept,
    onError: (error) => showRefusal('Due date', error),
    onSettled: refetch,
  });
}

export function useLinkIssue() {
  const { accept, refetch } = useTriageCache();
  return useMutation({
    mutationFn: ({ id, url }: { id: string; url: string | null }) =>
      linkAlertIssue(id, url),
    onSuccess: accept,
    onSettled: refetch,
  });
}
