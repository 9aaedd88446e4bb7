/**
 * Lists lines of a device’s log that the suite declares: figures of the app, shown beside the measurements and
 * never part of them. Absent where nothing was reported.
 */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { reportedQuery } from '../../api/job-tails';
import { jobEnded } from '../../api/runs';
import type { Job, Reported } from '../../api/types';
import { formatInteger } from '../../lib/units';
import { DataTable, type Column } from '../../ui/data-table';
import { QueryView } from '../../ui/query-view';
import { Pager } from '../../ui/pager';
import { Panel } from '../../ui/panel';

const POLL_MS = 10_000;

const NOTE =
  'Lines that the suite declares, as apps on the device printed them while the job ran: averages of their ' +
  'own, not samples, and no verdict rests on them.';

export function ReportedLines({ job }: { job: Job }) {
  const [cursor, setCursor] = useState<string>();
  const page = useQuery({
    ...reportedQuery(job.id, job.attempt, cursor),
    refetchInterval: jobEnded(job) ? false : POLL_MS,
  });
  const nothing =
    page.data === undefined
      ? page.error === null
      : page.data.items.length === 0;
  if (nothing && cursor === undefined) return null;
  return (
    <Panel title="Reported by the app" about={NOTE} flush>
      <QueryView query={page} what="the reported lines" lines={2}>
        {({ items, next }) => (
          <>
            <DataTable
              label="Reported by the app"
              columns={COLUMNS}
              rows={items}
              rowKey={({ seq }) => String(seq)}
            />
            <Pager cursor={cursor} next={next} onCursor={setCursor} />
          </>
        )}
      </QueryView>
    </Panel>
  );
}

const COLUMNS: readonly Column<Reported>[] = [
  { header: 'Line', cell: ({ pattern }) => pattern ?? '–' },
  { header: 'Launch', cell: launchOf },
  {
    header: 'Logged',
    cell: ({ at }) => <span className="pl-mono">{at ?? '–'}</span>,
  },
  { header: 'Says', cell: reportedText, wrap: true },
];

/** Returns the launch of a line. A line between two launches, or of a device without timestamps, has none. */
function launchOf({ launch, side }: Reported): string {
  if (launch === null) return '–';
  return side === null ? `${launch + 1}` : `${launch + 1}, ${side}`;
}

function reportedText({ fields, note, text }: Reported) {
  const figures = Object.entries(fields).map(
    ([name, value]) => `${name} ${printed(value)}`,
  );
  return (
    <>
      {figures.length > 0
        ? figures.join(', ')
        : text !== '' && <span className="pl-mono">{text}</span>}
      {note !== null && <div>{note}</div>}
    </>
  );
}

function printed(value: Reported['fields'][string]): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? formatInteger(value) : value.printed;
}
