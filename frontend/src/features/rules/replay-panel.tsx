/** Shows which alerts a rule would have raised in the last days, before it is saved. The server counts them. */
import { Alert as Notice, Button, Group, NumberInput } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';

import type { Fired, Replay, RuleRequest } from '../../api/types';
import { paramsLabel } from '../../lib/params';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Icon } from '../../ui/icon';
import { Panel } from '../../ui/panel';
import { Loading } from '../../ui/states';
import { TargetName } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';
import classes from './rules.module.css';

export interface ReplayPanelProps {
  days: number;
  onDays: (days: number) => void;
  ready: boolean;
  replay: UseMutationResult<Replay, Error, RuleRequest>;
  /** Whether the form has changed since the replay that is shown. */
  stale: boolean;
  onReplay: () => void;
}

export function ReplayPanel({
  days,
  onDays,
  ready,
  replay,
  stale,
  onReplay,
}: ReplayPanelProps) {
  return (
    <Panel
      title="Replay on past data"
      about="Applies this rule to past measurements. Saves nothing and notifies nobody."
    >
      <Group align="flex-end" gap="sm">
        <NumberInput
          label="Days"
          value={days}
          min={1}
          max={365}
          w={110}
          allowDecimal={false}
          onChange={(value) => onDays(Math.max(1, Number(value)))}
        />
        <Button
          variant="default"
          onClick={onReplay}
          loading={replay.isPending}
          disabled={!ready}
          leftSection={<Icon name="play" size={16} />}
        >
          Replay
        </Button>
        {!ready && (
          <span style={{ color: 'var(--pl-muted)' }}>
            Enter a minimum effect first.
          </span>
        )}
      </Group>
      {replay.isPending && <Loading what="the replay" lines={3} />}
      {replay.error !== null && (
        <Notice
          color="red"
          variant="outline"
          role="alert"
          mt="sm"
          icon={<Icon name="warning" />}
        >
          Not replayed: {replay.error.message}
        </Notice>
      )}
      {replay.data !== undefined && !replay.isPending && (
        <Outcome replay={replay.data} stale={stale} />
      )}
    </Panel>
  );
}

function Outcome({ replay, stale }: { replay: Replay; stale: boolean }) {
  return (
    <div className={classes.outcome} role="status" aria-label="Replay">
      {stale && (
        <p className={classes.stale}>
          <Icon name="warning" size={15} /> The fields have changed. Replay
          again.
        </p>
      )}
      <p className={classes.words}>{replay.words}</p>
      {replay.by_target.length > 1 && (
        <ul className={classes.counts} aria-label="Alerts by target">
          {replay.by_target.map(
            ({ target_id: id, target_name: name, fired }) => (
              <li key={id}>
                <strong>{fired}</strong> on{' '}
                <TargetName link id={id} name={name} />
              </li>
            ),
          )}
        </ul>
      )}
      {replay.findings.length > 0 && (
        <>
          <p className={classes.sub}>
            {replay.findings.length === replay.findings_total
              ? `Findings (${replay.findings_total})`
              : `Findings (newest ${replay.findings.length} of ${replay.findings_total})`}
          </p>
          <DataTable
            label="Findings of the replay"
            columns={COLUMNS}
            rows={replay.findings}
            rowKey={(row) =>
              [
                row.at,
                row.commit,
                row.target_id,
                row.benchmark,
                row.arm,
                row.metric,
                paramsLabel(row.params),
              ].join('|')
            }
          />
        </>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<Fired>[] = [
  { header: 'When', cell: ({ at }) => <TimeAgo at={at} /> },
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName id={id} name={name} />
    ),
  },
  {
    header: 'Summary',
    wrap: true,
    cell: (row) => (
      <>
        {row.words}
        <div className={classes.sub}>
          {row.suite} / {row.benchmark}, {row.arm}, {row.metric},{' '}
          {paramsLabel(row.params)}
        </div>
      </>
    ),
  },
  {
    header: 'Commit',
    cell: ({ commit }) => (
      <span className="pl-mono">{commit.slice(0, 10)}</span>
    ),
  },
  {
    header: 'Alert',
    cell: ({ alert_id: id, alert_state: state }) =>
      id === null ? (
        'none'
      ) : (
        <AppLink to="/alerts/$alertId" params={{ alertId: id }}>
          {state ?? 'Open'}
        </AppLink>
      ),
  },
];
