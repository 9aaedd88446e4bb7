/**
 * What a person may do about a target in this state: each is confirmed in a dialog that says what it does,
 * and what needs a reason asks for one. A refusal opens the dialog again, with what was typed.
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
    <Panel title="Act">
      {may(session.data, 'admin') ? (
        <Actions target={target} />
      ) : (
        <p className={classes.plain}>
          An administrator can check it again, restart it, hold it back for
          maintenance or put it into quarantine.
        </p>
      )}
    </Panel>
  );
}

const EMPTY: Draft = { reason: '', until: '' };

function Actions({ target }: { target: Target }) {
  const act = useTargetAction(target.id);
  const [asked, setAsked] = useState<{
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
  // What the dialog said when it was opened, whatever somebody else has done meanwhile.
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
          Restarts left within a day: {target.reboots_left}, by people and by
          the recovery ladder together.
        </p>
      )}
      {asked !== undefined && (
        <ActionDialog
          opened={opened}
          words={asked.words}
          name={target.name}
          withUntil={asked.action === 'maintenance' && asked.on}
          draft={draft}
          onDraft={setDraft}
          error={act.error}
          onClose={() => setOpened(false)}
          onConfirm={() => confirm(asked)}
        />
      )}
    </>
  );
}
