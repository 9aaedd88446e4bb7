/**
 * Lists the failures of a job and their waivers, with a form to waive the rest. The server decides what a waiver lets
 * pass; a waiver made here does not cover values worse than those of this run.
 */
import { Alert, Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { runKeys } from '../../api/runs';
import { may, sessionQuery } from '../../api/session';
import type {
  Comparison,
  Gate,
  Job,
  JobReport,
  Run,
  WaiverRequest,
} from '../../api/types';
import { createWaiver } from '../../api/waivers';
import { paramsKey, paramsLabel } from '../../lib/params';
import { isDeciding } from '../../ui/comparison-table';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { Panel } from '../../ui/panel';
import { gateName } from './gates';
import classes from './runs.module.css';

type Subject = Pick<
  WaiverRequest,
  'kind' | 'benchmark' | 'arm' | 'metric' | 'params'
>;

interface Failure {
  key: string;
  label: string;
  subject: Subject;
  waived: string | null;
}

const KINDS = {
  regression: 'slower than base',
  gate: 'gate',
  arm: 'slower than its reference',
} as const;

function failureOf(
  kind: keyof typeof KINDS,
  row: Comparison | Gate,
  detail: string,
): Failure {
  const { benchmark, arm, metric, params, waived } = row;
  const where = [benchmark, paramsLabel(params), arm].filter(Boolean);
  return {
    key: [kind, benchmark, arm, metric, detail, paramsKey(params)].join('|'),
    label: `${where.join(' ')}: ${detail}`,
    subject: { kind, benchmark, arm, metric, params },
    waived: waived?.words ?? null,
  };
}

/** Returns the failures that count and those that were waived. An arm that never ran cannot be waived. */
function failuresOf({ comparisons, gates }: JobReport): Failure[] {
  const rows = comparisons
    .filter(
      (row) =>
        row.verdict === 'fail' && isDeciding(row) && row.witness !== 'fail',
    )
    .map((row) => {
      const kind = row.sides === 'revisions' ? 'regression' : 'arm';
      return failureOf(kind, row, KINDS[kind]);
    });
  const limits = gates
    .filter(
      ({ verdict, level, witness }) =>
        verdict === 'fail' && level === 'required' && witness !== 'fail',
    )
    .map((gate) => failureOf('gate', gate, `gate ${gateName(gate)}`));
  return [...rows, ...limits];
}

export function Waivers({
  run,
  job,
  report,
}: {
  run: Run;
  job: Job;
  report: JobReport;
}) {
  const session = useQuery(sessionQuery);
  const failures = failuresOf(report);
  const waived = failures.filter((failure) => failure.waived !== null);
  const failing = failures.filter((failure) => failure.waived === null);
  const allowed = may(session.data, 'alerts.triage') && failing.length > 0;
  if (waived.length === 0 && !allowed) return null;
  return (
    <Panel
      title="Waivers"
      about="A waiver lets what fails pass visibly until it ends or gets worse. What was measured stays as it is."
    >
      {waived.length > 0 && (
        <ul className={classes.checks} aria-label="Waived failures">
          {waived.map((failure) => (
            <li key={failure.key}>
              {failure.label}: {failure.waived}
            </li>
          ))}
        </ul>
      )}
      {allowed && <WaiverForm run={run} job={job} failing={failing} />}
    </Panel>
  );
}

const DAYS = [
  { value: '1', label: 'a day' },
  { value: '7', label: 'a week' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
] as const;
const DAY_MS = 86_400_000;

/** Returns the scopes that a waiver can have: for which runs it counts. */
function scopesOf(run: Run): { value: string; label: string }[] {
  const request = run.pull_request;
  return [
    ...(request === null
      ? []
      : [{ value: 'pull', label: `pull request ${request.number}` }]),
    { value: 'commit', label: `commit ${run.commit.slice(0, 12)}` },
    { value: 'all', label: `every run of ${run.suite}` },
  ];
}

function WaiverForm({
  run,
  job,
  failing,
}: {
  run: Run;
  job: Job;
  failing: readonly Failure[];
}) {
  const scopes = scopesOf(run);
  const [what, setWhat] = useState(failing[0]?.key ?? '');
  const [scope, setScope] = useState(scopes[0]?.value ?? 'all');
  const [days, setDays] = useState('7');
  const [reason, setReason] = useState('');
  const queryClient = useQueryClient();
  const chosen = failing.find(({ key }) => key === what) ?? failing[0];
  const waive = useMutation({
    mutationFn: (subject: Subject) =>
      createWaiver({
        ...subject,
        suite: run.suite,
        target_id: job.target_id,
        reason: reason.trim(),
        expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
        run_id: run.id,
        ...(scope === 'pull'
          ? { pull_request: run.pull_request?.number ?? null }
          : {}),
        ...(scope === 'commit' ? { commits: [run.commit] } : {}),
      }),
    onSuccess: () => {
      setReason('');
      return Promise.all(
        [runKeys.all, runKeys.job(job.id)].map((queryKey) =>
          queryClient.invalidateQueries({ queryKey }),
        ),
      );
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (chosen !== undefined) waive.mutate(chosen.subject);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <FilterSelect
          label="What fails"
          value={chosen?.key}
          options={failing.map(({ key, label }) => ({ value: key, label }))}
          onChange={(next) => setWhat(next ?? '')}
        />
        <FilterSelect
          label="Waive it in"
          value={scope}
          options={scopes}
          onChange={(next) => setScope(next ?? 'all')}
        />
        <FilterSelect
          label="For"
          value={days}
          options={DAYS}
          onChange={(next) => setDays(next ?? '7')}
        />
        <TextInput
          label="Reason"
          size="sm"
          required
          maxLength={1000}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          size="sm"
          loading={waive.isPending}
          disabled={reason.trim() === ''}
        >
          Waive
        </Button>
      </Group>
      {waive.error !== null && (
        <Alert
          color="red"
          variant="outline"
          role="alert"
          mt="xs"
          icon={<Icon name="warning" />}
        >
          Not waived: {waive.error.message}
        </Alert>
      )}
    </form>
  );
}
