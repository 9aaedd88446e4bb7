/**
 * One target: whether it may be used, what preflight advises, and the factors that make up its fingerprint.
 */
import { Alert, Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { setMaintenance, targetKeys, targetQuery } from '../../api/catalog';
import { may, sessionQuery } from '../../api/session';
import type { PreflightFinding, Target } from '../../api/types';
import { AppLink } from '../../ui/app-link';
import { DataTable } from '../../ui/data-table';
import { Icon } from '../../ui/icon';
import { Loaded } from '../../ui/loaded';
import { PREFLIGHT_LEVELS } from '../../ui/looks';
import { Page } from '../../ui/page';
import { Facts, Panel, Split } from '../../ui/panel';
import { PoliciesPanel } from '../../ui/policy-card';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import { LEVELS, TargetMarks, whyNot } from './target-marks';

export function TargetPage({ targetId }: { targetId: string }) {
  const target = useQuery(targetQuery(targetId));
  return (
    <Page
      title={target.data?.name ?? 'Target'}
      crumb={<AppLink to="/targets">Targets</AppLink>}
      {...(target.data === undefined ? {} : { lead: <TargetMarks target={target.data} /> })}
      actions={
        target.data && (
          <>
            <AppLink to="/runs" search={{ target: targetId }}>
              Runs on this target
            </AppLink>
            <AppLink to="/noise" search={{ target: targetId }}>
              What it can tell from noise
            </AppLink>
          </>
        )
      }
    >
      <Loaded query={target} what="target" lines={8}>
        {(data) => (
          <Split
            main={
              <>
                <PoliciesPanel filters={{ target: data.id }} />
                <PreflightPanel findings={data.preflight} />
                <Fingerprint target={data} />
              </>
            }
            aside={
              <>
                <UsePanel target={data} />
                <About target={data} />
              </>
            }
          />
        )}
      </Loaded>
    </Page>
  );
}

function PreflightPanel({ findings }: { findings: readonly PreflightFinding[] }) {
  return (
    <Panel title="Preflight" flush note="What the agent found about this target and what to do about it.">
      {findings.length === 0 ? (
        <EmptyState icon="check" title="Nothing to improve">
          The target looks fit for measuring.
        </EmptyState>
      ) : (
        <DataTable
          label="Preflight findings"
          rows={findings.toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))}
          rowKey={({ code, text }) => `${code}|${text}`}
          columns={[
            { header: 'Level', cell: ({ level }) => <Status look={PREFLIGHT_LEVELS[level]} /> },
            { header: 'Finding', cell: ({ text }) => text, wrap: true },
            { header: 'Advice', cell: ({ advice }) => advice ?? '–', wrap: true },
          ]}
        />
      )}
    </Panel>
  );
}

function Fingerprint({ target }: { target: Target }) {
  const factors = Object.entries(target.factors).toSorted(([a], [b]) => a.localeCompare(b));
  return (
    <Panel
      title="Fingerprint"
      flush
      note={
        <>
          A change of any factor starts a new history.{' '}
          <span className="pl-mono">{target.fingerprint.slice(0, 16)}</span>
        </>
      }
    >
      <DataTable
        label="Fingerprint factors"
        rows={factors}
        rowKey={([name]) => name}
        columns={[
          { header: 'Factor', cell: ([name]) => name.replaceAll('_', ' ') },
          { header: 'Value', cell: ([, value]) => (value === null ? 'unknown' : String(value)), wrap: true },
        ]}
      />
    </Panel>
  );
}

function UsePanel({ target }: { target: Target }) {
  const session = useQuery(sessionQuery);
  const reason = whyNot(target);
  return (
    <Panel title="Use">
      <p style={{ margin: '0 0 0.75rem' }}>
        {reason === undefined ? 'Takes jobs.' : <>Takes no jobs: {reason}.</>}
      </p>
      {may(session.data, 'admin') ? (
        <Maintenance target={target} />
      ) : (
        <p style={{ margin: 0, color: 'var(--pl-muted)' }}>An administrator can put it into maintenance.</p>
      )}
    </Panel>
  );
}

function Maintenance({ target }: { target: Target }) {
  const queryClient = useQueryClient();
  const [reason, setReason] = useState('');
  const on = target.hold === 'maintenance';
  const change = useMutation({
    mutationFn: () => setMaintenance(target.id, !on, on || reason.trim() === '' ? null : reason.trim()),
    onSuccess: (changed) => {
      setReason('');
      queryClient.setQueryData(targetKeys.target(target.id), changed);
      void queryClient.invalidateQueries({ queryKey: [...targetKeys.all, 'list'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <form onSubmit={submit}>
      {!on && (
        <TextInput
          label="Reason for maintenance"
          placeholder="e.g. thermal paste renewed"
          maxLength={500}
          value={reason}
          mb="xs"
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      )}
      <Group>
        <Button
          type="submit"
          variant="default"
          size="sm"
          loading={change.isPending}
          leftSection={<Icon name="wrench" size={16} />}
        >
          {on ? 'End maintenance' : 'Start maintenance'}
        </Button>
      </Group>
      {change.error !== null && (
        <Alert color="red" variant="outline" role="alert" mt="sm" icon={<Icon name="warning" />}>
          Not changed: {change.error.message}
        </Alert>
      )}
    </form>
  );
}

function About({ target }: { target: Target }) {
  return (
    <Panel title="About">
      <Facts
        items={[
          ['Kind', target.kind],
          [
            'Serial',
            <span key="s" className="pl-mono">
              {target.serial}
            </span>,
          ],
          ['Agent', target.agent_name],
          ['Last seen', <TimeAgo key="l" at={target.last_seen_at} />],
        ]}
      />
    </Panel>
  );
}
