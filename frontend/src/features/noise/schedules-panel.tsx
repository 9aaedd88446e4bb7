/** Lists the schedules: whether each is on, its interval and its target. */
import { Alert as Notice, Button, Group, Switch } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import {
  changeSchedule,
  removeSchedule,
  schedulesQuery,
} from '../../api/schedules';
import { may, sessionQuery } from '../../api/session';
import type { Schedule } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Icon } from '../../ui/icon';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { TargetName } from '../../ui/target-name';
import { intervalText } from './schedule-intervals';
import { ScheduleChangeForm, ScheduleForm } from './schedule-form';

export const KIND_LABELS: Record<Schedule['kind'], string> = {
  a_a: 'A/A: the same artifact against itself',
  measure: 'measure the head of the branch',
};

export function SchedulesPanel({ target }: { target: string | undefined }) {
  const schedules = useQuery(schedulesQuery);
  const session = useQuery(sessionQuery);
  const allowed = may(session.data, 'schedules.write');
  const { change, remove } = useScheduleWrites();
  const [edited, setEdited] = useState<Schedule>();
  const error = change.error ?? remove.error;
  return (
    <Panel
      title="Schedules"
      about="The server starts these runs while they are on. A missed run is not made up for."
      flush
    >
      <QueryView query={schedules} what="the schedules" lines={3}>
        {({ items }) => {
          const shown = items.filter(
            (schedule) =>
              target === undefined ||
              schedule.target_id === null ||
              schedule.target_id === target,
          );
          return shown.length === 0 ? (
            <EmptyState icon="clock" title="No schedules">
              Add an A/A run below: it measures which effects a target can tell
              from noise.
            </EmptyState>
          ) : (
            <DataTable
              label="Schedules"
              rows={shown}
              rowKey={({ id }) => id}
              columns={[
                ...COLUMNS,
                ...(allowed
                  ? controls({ change, remove, onEdit: setEdited })
                  : [STATE]),
              ]}
            />
          );
        }}
      </QueryView>
      {error !== null && (
        <Notice
          color="red"
          variant="outline"
          role="alert"
          m="sm"
          icon={<Icon name="warning" />}
        >
          Not changed: {error.message}
        </Notice>
      )}
      {edited !== undefined && (
        <ScheduleChangeForm
          key={edited.id}
          schedule={edited}
          onDone={() => setEdited(undefined)}
        />
      )}
      {allowed && edited === undefined && <ScheduleForm target={target} />}
    </Panel>
  );
}

function useScheduleWrites() {
  const queryClient = useQueryClient();
  const refetch = () =>
    queryClient.invalidateQueries({ queryKey: schedulesQuery.queryKey });
  const change = useMutation({
    mutationFn: ({ id, enabled }: { id: string; enabled: boolean }) =>
      changeSchedule(id, { enabled }),
    onSettled: refetch,
  });
  const remove = useMutation({
    mutationFn: (id: string) => removeSchedule(id),
    onSettled: refetch,
  });
  return { change, remove };
}

const COLUMNS: readonly Column<Schedule>[] = [
  {
    header: 'Schedule',
    wrap: true,
    cell: ({ name, kind }) => (
      <>
        {name}
        <div style={{ color: 'var(--pl-muted)' }}>{KIND_LABELS[kind]}</div>
      </>
    ),
  },
  { header: 'Suite', cell: ({ suite }) => suite },
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName id={id} name={name ?? 'all online targets'} />
    ),
  },
  { header: 'How often', cell: ({ every_s: every }) => intervalText(every) },
  {
    header: 'Next',
    cell: ({ enabled, next_at: at }) => (enabled ? formatDateTime(at) : '–'),
  },
  {
    header: 'Last run',
    wrap: true,
    cell: ({ last_run_id: runId, missed_at: at, missed_because: why }) => (
      <>
        {runId === null ? (
          'none'
        ) : (
          <AppLink to="/runs/$runId" params={{ runId }}>
            Open run
          </AppLink>
        )}
        {at !== null && (
          <div style={{ color: 'var(--pl-muted)' }}>
            missed {formatDateTime(at)}: {why}
          </div>
        )}
      </>
    ),
  },
];

const STATE: Column<Schedule> = {
  header: 'On',
  cell: ({ enabled }) => (enabled ? 'on' : 'off'),
};

interface RowControls extends ReturnType<typeof useScheduleWrites> {
  onEdit: (schedule: Schedule) => void;
}

function controls({
  change,
  remove,
  onEdit,
}: RowControls): readonly Column<Schedule>[] {
  return [
    {
      header: 'On',
      cell: ({ id, name, enabled }) => (
        <Switch
          checked={enabled}
          disabled={change.isPending}
          aria-label={`${name} is on`}
          onChange={(event) =>
            change.mutate({ id, enabled: event.currentTarget.checked })
          }
        />
      ),
    },
    {
      header: 'Change',
      cell: (schedule) => (
        <Group gap="xs" wrap="nowrap">
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Change ${schedule.name}`}
            onClick={() => onEdit(schedule)}
          >
            Change
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            loading={remove.isPending && remove.variables === schedule.id}
            aria-label={`Remove ${schedule.name}`}
            onClick={() => remove.mutate(schedule.id)}
          >
            Remove
          </Button>
        </Group>
      ),
    },
  ];
}
