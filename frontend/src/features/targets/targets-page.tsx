/** Every target: can it be used, and if not, why. */
import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { targetsQuery } from '../../api/catalog';
import type { Target } from '../../api/types';
import { useLiveStream } from '../../api/use-live-stream';
import { AppLink } from '../../ui/app-link';
import { CodeBox } from '../../ui/code-box';
import { DataTable, type Column } from '../../ui/data-table';
import { Loaded } from '../../ui/loaded';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { TimeAgo } from '../../ui/time-ago';
import { Preflight, TargetMarks, whyNot } from './target-marks';

const COLUMNS: readonly Column<Target>[] = [
  { header: 'State', cell: (target) => <TargetMarks target={target} /> },
  {
    header: 'Target',
    cell: (target) => (
      <Group gap={6} wrap="nowrap">
        <AppLink to="/targets/$targetId" params={{ targetId: target.id }}>
          {target.name}
        </AppLink>
        <span style={{ color: 'var(--pl-muted)' }}>{target.kind}</span>
      </Group>
    ),
  },
  { header: 'Takes no jobs because', cell: (target) => whyNot(target) ?? '–', wrap: true },
  { header: 'Preflight', cell: (target) => <Preflight findings={target.preflight} /> },
  { header: 'Agent', cell: ({ agent_name: agent }) => agent },
  { header: 'Seen', cell: ({ last_seen_at: at }) => <TimeAgo at={at} /> },
];

export function TargetsPage() {
  const targets = useQuery(targetsQuery);
  useLiveStream({
    enabled: true,
    onEvent: ({ kind }) => {
      if (kind === 'target') void targets.refetch();
    },
  });
  return (
    <Page
      title="Targets"
      lead="Hosts and the devices attached to them. Preflight says how far to trust their figures."
    >
      <Panel title="All targets" flush>
        <Loaded query={targets} what="the targets" lines={4}>
          {({ items }) =>
            items.length === 0 ? (
              <EmptyState
                icon="targets"
                title="No target has reported yet"
                action={<CodeBox text="paceline-server enrolment-code" />}
              >
                Make a one-time code on the server and start an agent with it. The host and its devices appear
                here with the first heartbeat.
              </EmptyState>
            ) : (
              <DataTable label="Targets" columns={COLUMNS} rows={items} rowKey={({ id }) => id} />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}
