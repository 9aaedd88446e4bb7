/** Alerts as rows: state, what got slower in words, where, and whose it is. */
import { Button, Group } from '@mantine/core';

import type { Alert } from '../../api/types';
import { formatInterval, formatRatio } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { ALERT_STATE_MEANING, ALERT_STATES, DEMONSTRATION } from '../../ui/looks';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';

export interface AlertsTableProps {
  alerts: readonly Alert[];
  current: string | undefined;
  onAcknowledge: (alert: Alert) => void;
}

export function AlertsTable({ alerts, current, onAcknowledge }: AlertsTableProps) {
  const columns: readonly Column<Alert>[] = [
    {
      header: 'State',
      cell: ({ state, demonstration }) => (
        <Group gap={4} maw={150}>
          <Status look={ALERT_STATES[state]} title={ALERT_STATE_MEANING[state]} />
          {demonstration && <Status look={DEMONSTRATION} />}
        </Group>
      ),
    },
    {
      header: 'Alert',
      wrap: true,
      cell: (alert) => (
        <>
          <AppLink to="/alerts/$alertId" params={{ alertId: alert.id }}>
            {alert.title}
          </AppLink>
          <div style={{ color: 'var(--pl-muted)' }}>{alert.words}</div>
        </>
      ),
    },
    { header: 'Target', cell: ({ target_name: name }) => name },
    {
      header: 'Ratio',
      align: 'right',
      cell: ({ ratio, lower, upper }) => (
        <>
          {formatRatio(ratio)}
          <div style={{ color: 'var(--pl-muted)' }}>{formatInterval(lower, upper)}</div>
        </>
      ),
    },
    { header: 'Assignee', cell: ({ assignee }) => assignee?.name ?? '–' },
    { header: 'Since', cell: ({ created_at: at }) => <TimeAgo at={at} /> },
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
    <DataTable label="Alerts" columns={columns} rows={alerts} rowKey={({ id }) => id} current={current} />
  );
}
