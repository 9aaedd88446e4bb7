/**
 * Sends actions to a target. A request is shown as requested at once, but a check or a restart never as done: only
 * the server says whether the target takes jobs. A refusal restores the old state.
 */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { sessionQuery } from '../../api/session';
import {
  quarantineTarget,
  rebootTarget,
  recheckTarget,
  releaseTarget,
  setMaintenance,
  targetKeys,
} from '../../api/targets';
import type { Order, Target, TargetAction } from '../../api/types';

export interface ActionRequest {
  action: TargetAction;
  /** For maintenance: true begins it, false ends it. */
  on: boolean;
  reason: string;
  /** Null means until a person ends it. */
  until: string | null;
}

function send(
  id: string,
  { action, on, reason, until }: ActionRequest,
): Promise<Target> {
  switch (action) {
    case 'maintenance':
      return setMaintenance(id, {
        on,
        reason: on && reason !== '' ? reason : null,
        until: on ? until : null,
      });
    case 'quarantine':
      return quarantineTarget(id, reason);
    case 'release':
      return releaseTarget(id, reason);
    case 'recheck':
      return recheckTarget(id);
    case 'reboot':
      return rebootTarget(id);
  }
}

const ASKING: Target['takes_jobs'] = {
  ok: false,
  words: 'waiting for the server',
};

function pendingOrder(kind: Order['kind'], by: string, now: string): Order {
  return {
    id: `asked ${kind}`,
    kind,
    life: 'pending',
    requested_by: by,
    requested_at: now,
    why: null,
  };
}

/** Returns the target as it is shown until the server has answered. */
export function applyOptimistically(
  target: Target,
  request: ActionRequest,
  by: string,
  now: string,
): Target {
  const { action, on, until } = request;
  const reason = request.reason === '' ? null : request.reason;
  const health = (state: Target['health']['state']) => ({
    ...target.health,
    state,
    reason: state === 'quarantined' ? reason : null,
    advice: null,
    since: now,
  });
  switch (action) {
    case 'maintenance':
      return {
        ...target,
        takes_jobs: ASKING,
        maintenance: on ? { by, reason, until, since: now } : null,
      };
    case 'quarantine':
      return { ...target, takes_jobs: ASKING, health: health('quarantined') };
    case 'release':
      return { ...target, takes_jobs: ASKING, health: health('unknown') };
    case 'recheck':
      return {
        ...target,
        orders: [...target.orders, pendingOrder('check', by, now)],
      };
    case 'reboot':
      return {
        ...target,
        orders: [...target.orders, pendingOrder('reboot', by, now)],
      };
  }
}

export function useTargetAction(id: string) {
  const client = useQueryClient();
  const session = useQuery(sessionQuery);
  const key = targetKeys.target(id);
  return useMutation({
    mutationFn: (request: ActionRequest) => send(id, request),
    onMutate: async (request) => {
      await client.cancelQueries({ queryKey: key });
      const before = client.getQueryData<Target>(key);
      if (before === undefined) return undefined;
      const by = session.data?.account.name ?? 'you';
      const guessed = applyOptimistically(
        before,
        request,
        by,
        new Date().toISOString(),
      );
      client.setQueryData(key, guessed);
      return { before, guessed: client.getQueryData<Target>(key) };
    },
    onError: (_error, _asked, mine) => {
      // Data that arrived meanwhile is newer than the state before the action, so only the guess is undone.
      if (
        mine !== undefined &&
        client.getQueryData<Target>(key) === mine.guessed
      ) {
        client.setQueryData(key, mine.before);
      }
      void client.invalidateQueries({ queryKey: key });
    },
    onSuccess: (target) => client.setQueryData(key, target),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: targetKeys.lists });
      void client.invalidateQueries({ queryKey: targetKeys.events(id) });
    },
  });
}
