/** Shows alerts as rows: state, what became slower, on which target, and the assignee. */
import { Button, Checkbox, Group } from '@mantine/core';

import type { Alert } from '../../api/types';
import { formatDate } from '../../lib/times';
import {
  formatInterval,
  formatRatio,
  keepFiguresUnbroken,
} from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import {
  ALERT_CAUSES,
  ALERT_KINDS,
  ALERT_STATE_MEANING,
  ALERT_STATES,
  DEMONSTRATION,
  OVERDUE,
  SHADOW,
} from '../../ui/state-badges';
import { Status } from '../../ui/status';
import { TargetName } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';
import classes from './alerts.module.css';

export interface AlertsTableProps {
  alerts: readonly Alert[];
  current: string | undefined;
  onAcknowledge: (alert: Alert) => void;
  /** Without it, alerts cannot be selected. */
  choice?:
    { chosen: ReadonlySet<string>; onToggle: (id: string) => void } | undefined;
}

function chooser(
  choice: NonNullable<AlertsTableProps['choice']>,
): Column<Alert> {
  return {
    header: 'Select',
    cell: ({ id, title }) => (
      <Checkbox
        size="xs"
        checked={choice.chosen.has(id)}
        aria-label={`Select ${title}`}
        onChange={() => choice.onToggle(id)}
      />
    ),
  };
}

export function AlertsTable({
  alerts,
  current,
  onAcknowledge,
  choice,
}: AlertsTableProps) {
  const columns: readonly Column<Alert>[] = [
    ...(choice === undefined ? [] : [chooser(choice)]),
    ...COLUMNS,
    {
      header: 'Triage',
      cell: (alert) =>
        alert.state === 'open' ? (
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => onAcknowledge(alert)}
            aria-label={`Acknowledge ${alert.title}`}
          >
            Acknowledge
          </Button>
        ) : null,
    },
  ];
  return (
    <DataTable
      label="Alerts"
      columns={columns}
      rows={alerts}
      rowKey={({ id }) => id}
      current={current}
    />
  );
}

const COLUMNS: readonly Column<Alert>[] = [
  {
    header: 'Alert',
    wrap: true,
    cell: (alert) => (
      <>
        <AppLink to="/alerts/$alertId" params={{ alertId: alert.id }}>
          {alert.title}
        </AppLink>
        <div style={{ color: 'var(--pl-muted)' }}>
          {keepFiguresUnbroken(alert.words)}
        </div>
        <div className={classes.about}>
          {ALERT_KINDS[alert.kind]}
          {alert.cause !== null && <Status look={ALERT_CAUSES[alert.cause]} />}
        </div>
      </>
    ),
  },
  {
    header: 'State',
    cell: ({ state, demonstration, shadow, overdue }) => (
      <Group gap={4} maw={150}>
        <Status look={ALERT_STATES[state]} title={ALERT_STATE_MEANING[state]} />
        {demonstration && <Status look={DEMONSTRATION} />}
        {shadow && (
          <Status
            look={SHADOW}
            title="Raised by a shadow rule: nobody is notified."
          />
        )}
        {overdue && <Status look={OVERDUE} />}
      </Group>
    ),
  },
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName id={id} name={name ?? '–'} />
    ),
  },
  {
    header: 'Ratio',
    align: 'right',
    cell: ({ ratio, lower, upper }) => (
      <>
        {formatRatio(ratio)}
        {lower !== null && (
          <div style={{ color: 'var(--pl-muted)' }}>
            {formatInterval(lower, upper)}
          </div>
        )}
      </>
    ),
  },
  { header: 'Assignee', cell: ({ assignee }) => assignee?.name ?? '–' },
  {
    header: 'Since',
    cell: ({ created_at: at, due_at: due }) => (
      <>
        <TimeAgo at={at} />
        {due !== null && (
          <div style={{ color: 'var(--pl-muted)' }}>due {formatDate(due)}</div>
        )}
      </>
    ),
  },
];
