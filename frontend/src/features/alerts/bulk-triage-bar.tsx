/**
 * Makes one decision about all chosen alerts or none. The notice that reports the decision has an undo button;
 * a refusal names the alert and its reason.
 */
import { Button, Group, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { accountsQuery } from '../../api/session';
import type { Alert, AlertAction } from '../../api/types';
import { FilterSelect } from '../../ui/filter-select';
import { ACTION_LABELS } from '../../ui/state-badges';
import classes from './bulk.module.css';
import { ExpectedDialog } from './expected-dialog';
import type { BulkTriage, BulkDecision } from './use-bulk-triage';
import { needsBaseline } from './use-triage';

export interface BulkTriageBarProps {
  chosen: readonly Alert[];
  bulk: BulkTriage;
  onClear: () => void;
}

const ACTIONS = Object.keys(ACTION_LABELS) as AlertAction[];

export function BulkTriageBar({ chosen, bulk, onClear }: BulkTriageBarProps) {
  const [note, setNote] = useState('');
  const accounts = useQuery(accountsQuery);
  const remark = note.trim() === '' ? {} : { note: note.trim() };
  return (
    <section className={classes.bar} aria-label="Triage the selected alerts">
      <Group justify="space-between" gap="xs">
        <strong>
          {chosen.length === 1
            ? '1 alert chosen'
            : `${chosen.length} alerts selected`}
        </strong>
        <Button size="compact-sm" variant="default" onClick={onClear}>
          Clear selection
        </Button>
      </Group>
      <Group gap="xs" align="flex-end">
        <Actions chosen={chosen} bulk={bulk} remark={remark} />
        <FilterSelect
          label="Assign all to"
          value=""
          all="Select…"
          options={[
            { value: 'nobody', label: 'nobody' },
            ...(accounts.data?.items ?? []).map(({ id, name }) => ({
              value: id,
              label: name,
            })),
          ]}
          onChange={(id) => {
            if (id !== undefined) {
              bulk.decide({
                assign: { account_id: id === 'nobody' ? null : id },
                ...remark,
              });
            }
          }}
        />
        <Textarea
          label="Note for all"
          autosize
          minRows={1}
          maxLength={4000}
          className={classes.note}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      </Group>
      {bulk.refused !== null && <RefusedAlerts refused={bulk.refused} />}
    </section>
  );
}

type Remark = Pick<BulkDecision, 'note'>;

function Actions({
  chosen,
  bulk,
  remark,
}: Omit<BulkTriageBarProps, 'onClear'> & { remark: Remark }) {
  const [asking, setAsking] = useState(false);
  const about = chosen.filter(needsBaseline);
  return (
    <>
      {ACTIONS.map((action) => (
        <Button
          key={action}
          size="xs"
          variant="default"
          disabled={bulk.isPending}
          onClick={() => {
            if (action === 'expected' && about.length > 0) setAsking(true);
            else bulk.decide({ action, ...remark });
          }}
        >
          {ACTION_LABELS[action].label}
        </Button>
      ))}
      <BaselineDialog
        about={about}
        opened={asking}
        onClose={() => setAsking(false)}
        onDecide={(baseline) => {
          setAsking(false);
          bulk.decide({ action: 'expected', ...remark, ...baseline });
        }}
      />
    </>
  );
}

interface BaselineDialogProps {
  about: readonly Alert[];
  opened: boolean;
  onClose: () => void;
  onDecide: (baseline: Pick<BulkDecision, 'note' | 'baseline_commit'>) => void;
}

/**
 * Asks for the commit of the new baseline; it is filled in if all alerts blame the same commit.
 */
function BaselineDialog({
  about,
  opened,
  onClose,
  onDecide,
}: BaselineDialogProps) {
  const blamed = new Set(about.map(({ head_commit: commit }) => commit));
  const suggested = blamed.size === 1 ? (about[0]?.head_commit ?? null) : null;
  return (
    <ExpectedDialog
      key={suggested}
      opened={opened}
      suggested={suggested}
      optional
      onClose={onClose}
      onConfirm={(commit, why) =>
        onDecide({
          ...(why === undefined ? {} : { note: why }),
          ...(commit === undefined ? {} : { baseline_commit: commit }),
        })
      }
    />
  );
}

function RefusedAlerts({
  refused,
}: {
  refused: NonNullable<BulkTriage['refused']>;
}) {
  return (
    <div role="alert" className={classes.refused}>
      <strong>{refused.message}</strong>
      <ul>
        {refused.reasons.map(({ id, title, reason }) => (
          <li key={id}>
            {title}: {reason}
          </li>
        ))}
      </ul>
    </div>
  );
}
