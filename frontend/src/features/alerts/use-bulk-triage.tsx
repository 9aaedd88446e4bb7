/** Makes one decision about many alerts, with undo. Lists are fetched again after each answer of the server. */
import { Button, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import {
  useMutation,
  useQueryClient,
  type QueryClient,
} from '@tanstack/react-query';
import { useState } from 'react';

import { alertKeys, decideInBulk, undoBulk } from '../../api/alerts';
import { isApiError } from '../../api/errors';
import { overviewQuery } from '../../api/reports';
import type { Alert, BulkRequest, TriageBatch } from '../../api/types';

export type BulkDecision = Omit<BulkRequest, 'alert_ids'>;

/** How long a notice with an undo button stays, ms. */
const UNDO_SHOWN_MS = 30_000;

interface BulkRefusal {
  message: string;
  reasons: { id: string; title: string; reason: string }[];
}

export type BulkTriage = ReturnType<typeof useBulkTriage>;

const noticeId = ({ id }: TriageBatch) => `bulk-${id}`;

function refetchAlerts(client: QueryClient): void {
  void client.invalidateQueries({ queryKey: alertKeys.all });
  void client.invalidateQueries({ queryKey: overviewQuery.queryKey });
}

export function useBulkTriage(chosen: readonly Alert[], onDone: () => void) {
  const client = useQueryClient();
  const undo = useUndo();
  const [last, setLast] = useState<TriageBatch | null>(null);
  const undoBatch = (batch: TriageBatch) => {
    setLast(null);
    notifications.hide(noticeId(batch));
    undo.mutate(batch);
  };
  const decide = useMutation({
    mutationFn: (decision: BulkDecision) =>
      decideInBulk({ ...decision, alert_ids: chosen.map(({ id }) => id) }),
    onSuccess: (batch) => {
      onDone();
      setLast(batch);
      notifications.show({
        id: noticeId(batch),
        color: 'pace',
        autoClose: UNDO_SHOWN_MS,
        message: <UndoNotice batch={batch} onUndo={() => undoBatch(batch)} />,
      });
    },
    onSettled: () => refetchAlerts(client),
  });
  return {
    decide: decide.mutate,
    isPending: decide.isPending,
    refused: refusal(decide.error, chosen),
    /** Undoes the newest bulk decision made on this page; undefined when there is none. */
    undoLast: last === null ? undefined : () => undoBatch(last),
  };
}

function refusal(
  error: Error | null,
  chosen: readonly Alert[],
): BulkRefusal | null {
  if (error === null) return null;
  const fields = isApiError(error) ? Object.entries(error.fields) : [];
  return {
    message: error.message,
    reasons: fields.map(([id, reason]) => ({
      id,
      title: chosen.find((alert) => alert.id === id)?.title ?? id,
      reason,
    })),
  };
}

function useUndo() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (batch: TriageBatch) => undoBulk(batch.id),
    onSuccess: ({ alerts }) =>
      notifications.show({
        color: 'pace',
        message: `Undone for ${alerts === 1 ? '1 alert' : `${alerts} alerts`}.`,
      }),
    onError: (error) =>
      notifications.show({
        color: 'red',
        title: 'Not undone',
        message: error.message,
      }),
    onSettled: () => refetchAlerts(client),
  });
}

/** The result of a bulk decision, with an undo button. */
interface UndoNoticeProps {
  batch: TriageBatch;
  onUndo: () => void;
}

function UndoNotice({ batch, onUndo }: UndoNoticeProps) {
  return (
    <Group justify="space-between" wrap="nowrap">
      <span>
        {batch.alerts === 1 ? '1 alert' : `${batch.alerts} alerts`}:{' '}
        {batch.action.replaceAll('_', ' ')}.
      </span>
      <Button size="compact-sm" variant="default" onClick={onUndo}>
        Undo
      </Button>
    </Group>
  );
}
