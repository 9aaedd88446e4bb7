/**
 * The actions that a person may take on a target in this state. Each is confirmed in a dialog, which asks for a
 * reason where one is required. A refusal opens the dialog again with the typed text.
 */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { may, sessionQuery } from '../../api/session';
import type { Target, TargetAction } from '../../api/types';
import { Panel } from '../../ui/panel';
import { ActionDialog, type Draft } from './action-dialog';
import classes from './targets.module.css';
import { type ActionText, actionTextOf } from './target-texts';
import { useTargetAction } from './use-target-action';

export function ActionsPanel({ target }: { target: Target }) {
  const session = useQuery(sessionQuery);
  return (
    <Panel title="Actions">
      {may(session.data, 'installation.admin') ? (
        <Actions target={target} />
      ) : (
        <p className={classes.plain}>
          Only administrators can check, restart, quarantine or maintain a
          target.
        </p>
      )}
    </Panel>
  );
}

const EMPTY: Draft = { reason: '', until: '' };

function Actions({ target }: { target: Target }) {
  const act = useTargetAction(target.id);
  const [request, setAsked] = useState<{
    action: TargetAction;
    words: ActionText;
    on: boolean;
  }>();
  const [opened, setOpened] = useState(false);
  const [draft, setDraft] = useState(EMPTY);
  const ask = (action: TargetAction) => {
    act.reset();
    setDraft(EMPTY);
    setAsked({
      action,
      words: actionTextOf(target, action),
      on: target.maintenance === null,
    });
    setOpened(true);
  };
  // Confirms the action that the dialog was opened for, even if the state has changed since.
  const confirm = ({ action, on }: { action: TargetAction; on: boolean }) => {
    setOpened(false);
    act.mutate(
      {
        action,
        on,
        reason: draft.reason.trim(),
        until: draft.until === '' ? null : new Date(draft.until).toISOString(),
      },
      { onError: () => setOpened(true) },
    );
  };
  return (
    <>
      <div className={classes.actions}>
        {target.actions.map((action) => (
          <Button
            key={action}
            variant="default"
            size="sm"
            disabled={act.isPending}
            onClick={() => ask(action)}
          >
            {actionTextOf(target, action).label}
          </Button>
        ))}
      </div>
      {target.kind === 'device' && (
        <p className={`${classes.plain} ${classes.quiet}`}>
          Restarts left in 24 hours: {target.reboots_left}, manual and
          automatic.
        </p>
      )}
      {request !== undefined && (
        <ActionDialog
          opened={opened}
          words={request.words}
          name={target.name}
          withUntil={request.action === 'maintenance' && request.on}
          draft={draft}
          onDraft={setDraft}
          error={act.error}
          onClose={() => setOpened(false)}
          onConfirm={() => confirm(request)}
        />
      )}
    </>
  );
}
