/**
 * Shows a bisection: every possible commit as a strip, what was measured of it, and how much of the budget is used.
 * The server decides which commits are still possible (`good`, `bad`).
 */
import { Alert as Notice, Button, Group, NumberInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { alertKeys, bisectAlert } from '../../api/alerts';
import type { AlertDetail, Bisection, BisectionStep } from '../../api/types';
import { shortId } from '../../lib/ids';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Icon } from '../../ui/icon';
import { OUTCOMES, VERDICTS } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { Status, type Badge } from '../../ui/status';
import classes from './bisect.module.css';
import { CommitStrip } from './commit-strip';

const STATES: Record<Bisection['state'], Badge> = {
  running: { tone: 'busy', icon: 'play', word: 'searching' },
  found: { tone: 'good', icon: 'check', word: 'found' },
  exhausted: { tone: 'unsure', icon: 'stop', word: 'budget used up' },
  undecided: { tone: 'unsure', icon: 'question', word: 'inconclusive' },
  failed: { tone: 'bad', icon: 'cross', word: 'failed' },
};

const STEP_BADGES: Record<NonNullable<BisectionStep['verdict']>, Badge> = {
  fail: VERDICTS.fail,
  pass: VERDICTS.pass,
  inconclusive: VERDICTS.inconclusive,
  failed: OUTCOMES.failed,
  skipped: { tone: 'quiet', icon: 'muted', word: 'not measurable' },
};
const MEASURING: Badge = { tone: 'busy', icon: 'runs', word: 'measuring' };

export interface BisectPanelProps {
  alert: AlertDetail;
  allowed: boolean;
}

/**
 * Shown only for a change in history that is caused by code and was measured here; other alerts have no commits to
 * search.
 */
export function BisectPanel({ alert, allowed }: BisectPanelProps) {
  const { bisection, kind, cause, head_commit: head, imported } = alert;
  const searchable =
    kind === 'history' && cause !== 'environment' && head !== null && !imported;
  if (bisection === null && !searchable) return null;
  const again =
    bisection === null ||
    (bisection.state !== 'running' && bisection.state !== 'found');
  return (
    <Panel
      title="Bisection"
      about="Finds the commit that made the change. Each step measures one commit against the base, interleaved in one job on the same target."
    >
      {bisection === null ? (
        <p className={classes.words}>Not started.</p>
      ) : (
        <Progress bisection={bisection} />
      )}
      {searchable && again && allowed && <StartForm alertId={alert.id} />}
    </Panel>
  );
}

function Progress({ bisection }: { bisection: Bisection }) {
  return (
    <>
      <Group gap={8} mb="xs">
        <Status look={STATES[bisection.state]} />
        <span className="pl-num">
          {bisection.used} of at most {bisection.budget} A/B jobs
        </span>
      </Group>
      <p className={classes.words}>{bisection.words}</p>
      {bisection.commits.length > 0 && <CommitStrip bisection={bisection} />}
      {bisection.steps.length > 0 && (
        <DataTable
          label="Bisection steps"
          rows={bisection.steps}
          rowKey={({ run_id: id }) => id}
          columns={columns(bisection)}
        />
      )}
    </>
  );
}

function columns({ commits }: Bisection): readonly Column<BisectionStep>[] {
  return [
    {
      header: 'Verdict',
      cell: ({ verdict }) => (
        <Status look={verdict === null ? MEASURING : STEP_BADGES[verdict]} />
      ),
    },
    {
      header: 'Commit',
      wrap: true,
      cell: ({ index, commit }) => (
        <>
          <span className="pl-mono">{commit.slice(0, 10)}</span>{' '}
          {index === null
            ? 'head, to check that the change is there'
            : commits[index]?.subject}
        </>
      ),
    },
    {
      header: 'Against the base',
      cell: ({ words }) => (words === '' ? '–' : words),
      wrap: true,
    },
    {
      header: 'Run',
      cell: ({ run_id: runId }) => (
        <AppLink to="/runs/$runId" params={{ runId }}>
          {shortId(runId)}
        </AppLink>
      ),
    },
  ];
}

function StartForm({ alertId }: { alertId: string }) {
  const [budget, setBudget] = useState<number | ''>('');
  const queryClient = useQueryClient();
  const start = useMutation({
    mutationFn: () => bisectAlert(alertId, budget === '' ? null : budget),
    onSuccess: (alert) =>
      queryClient.setQueryData(alertKeys.alert(alertId), alert),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate();
  };
  return (
    <form onSubmit={submit} className={classes.start}>
      <Group align="flex-end" gap="sm">
        <NumberInput
          label="A/B job limit"
          placeholder="server default"
          min={1}
          max={100}
          w={190}
          allowDecimal={false}
          value={budget}
          onChange={(value) => setBudget(value === '' ? '' : Number(value))}
        />
        <Button type="submit" variant="default" loading={start.isPending}>
          Start bisection
        </Button>
      </Group>
      {start.error !== null && (
        <Notice
          color="red"
          variant="outline"
          role="alert"
          mt="sm"
          icon={<Icon name="warning" />}
        >
          Not started: {start.error.message}
        </Notice>
      )}
    </form>
  );
}
