/** Lists targets that an agent announces although they belong to another agent; an admin decides. */
import { Alert, Button, Group } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import {
  agentKeys,
  dismissClaim,
  moveClaimedTarget,
  openClaimsQuery,
} from '../../api/agents';
import type { TargetClaim } from '../../api/types';
import { DataTable, type Column } from '../../ui/data-table';
import { Icon } from '../../ui/icon';
import { Panel } from '../../ui/panel';
import { ErrorState } from '../../ui/states';
import { TargetName } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';

export function ClaimsPanel() {
  const claims = useQuery(openClaimsQuery);
  const queryClient = useQueryClient();
  const decide = useMutation({
    mutationFn: ({ claim, move }: { claim: TargetClaim; move: boolean }) =>
      move ? moveClaimedTarget(claim.id) : dismissClaim(claim.id),
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: agentKeys.all }),
        queryClient.invalidateQueries({ queryKey: agentKeys.claims }),
      ]),
  });
  if (claims.isError) {
    return (
      <Panel title="Claimed targets">
        <ErrorState
          error={claims.error}
          what="the claims"
          onRetry={() => void claims.refetch()}
        />
      </Panel>
    );
  }
  const rows = claims.data?.items ?? [];
  if (rows.length === 0 && decide.error === null) return null;
  return (
    <Panel
      title="Claimed targets"
      about="An agent reaches a target that belongs to another one. It is refused until you decide: after a device was carried to another host, move it; if nobody carried it, keep it and look at who runs that agent."
      flush
    >
      <DataTable
        label="Claimed targets"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          ...COLUMNS,
          {
            header: 'Decide',
            cell: (claim) => (
              <Group gap="xs" wrap="nowrap">
                <Button
                  size="compact-xs"
                  variant="default"
                  disabled={decide.isPending}
                  aria-label={`Move ${claim.target.name} to ${claim.agent.name}`}
                  onClick={() => decide.mutate({ claim, move: true })}
                >
                  Move to this agent
                </Button>
                <Button
                  size="compact-xs"
                  variant="default"
                  disabled={decide.isPending}
                  aria-label={`Keep ${claim.target.name} with ${claim.owner.name}`}
                  onClick={() => decide.mutate({ claim, move: false })}
                >
                  Keep
                </Button>
              </Group>
            ),
          },
        ]}
      />
      {decide.error !== null && (
        <Alert
          color="red"
          variant="outline"
          role="alert"
          m="sm"
          icon={<Icon name="warning" />}
        >
          Not done: {decide.error.message}
        </Alert>
      )}
    </Panel>
  );
}

const COLUMNS: readonly Column<TargetClaim>[] = [
  {
    header: 'Target',
    cell: ({ target }) => <TargetName id={target.id} name={target.name} />,
  },
  { header: 'Serial number', cell: ({ target }) => target.serial },
  { header: 'Belongs to', cell: ({ owner }) => owner.name },
  { header: 'Announced by', cell: ({ agent }) => agent.name },
  { header: 'Last', cell: ({ last_at: at }) => <TimeAgo at={at} /> },
];
