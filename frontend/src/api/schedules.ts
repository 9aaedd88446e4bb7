/** Requests about schedules: A/A runs and nightly measurements that the server starts by itself. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type { Page, Schedule, ScheduleChange, ScheduleRequest } from './types';

export const schedulesQuery = queryOptions({
  queryKey: ['schedules'],
  queryFn: ({ signal }): Promise<Page<Schedule>> =>
    unwrap(
      client.GET('/api/v1/schedules', {
        signal,
        params: { query: { limit: 200 } },
      }),
    ),
});

export function createSchedule(schedule: ScheduleRequest): Promise<Schedule> {
  return unwrap(client.POST('/api/v1/schedules', { body: schedule }));
}

/** Changes a schedule. Switched on, its next run is due at once; a new interval applies from the next run on. */
export function changeSchedule(
  id: string,
  change: ScheduleChange,
): Promise<Schedule> {
  return unwrap(
    client.PATCH('/api/v1/schedules/{schedule_id}', {
      params: { path: { schedule_id: id } },
      body: change,
    }),
  );
}

export async function removeSchedule(id: string): Promise<void> {
  await unwrap(
    client.DELETE('/api/v1/schedules/{schedule_id}', {
      params: { path: { schedule_id: id } },
    }),
  );
}
