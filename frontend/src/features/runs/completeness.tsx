/**
 * Shows whether a run is complete: missing cases, grouped by reason, and benchmarks of earlier runs that the
 * suite no longer declares. A person retires those that were removed on purpose, so that they stop counting.
 */
import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { completenessQuery } from '../../api/reports';
import { runEnded, runKeys } from '../../api/runs';
import { retireBenchmark } from '../../api/series';
import { may, sessionQuery } from '../../api/session';
import type {
  Completeness as Answer,
  Gone,
  MissingCase,
  MissingGroup,
  Run,
} from '../../api/types';
import { paramsKey, paramsLabel } from '../../lib/params';
import { formatInteger } from '../../lib/units';
import { DataTable, type Column } from '../../ui/data-table';
import { Icon } from '../../ui/icon';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { Status, type Badge } from '../../ui/status';
import { TargetName } from '../../ui/target-name';
import tones from '../../ui/tones.module.css';
import classes from './completeness.module.css';

const COMPLETE: Badge = { tone: 'good', icon: 'check', word: 'complete' };
const ARRIVING: Badge = { tone: 'busy', icon: 'clock', word: 'arriving' };
const MISSING: Badge = { tone: 'bad', icon: 'warning', word: 'incomplete' };

export function Completeness({ run }: { run: Run }) {
  const completeness = useQuery(completenessQuery(run.id, runEnded(run)));
  return (
    <Panel
      title="Completeness"
      actions={completeness.data && <Status look={lookOf(completeness.data)} />}
    >
      <QueryView query={completeness} what="the completeness" lines={1}>
        {(answer) => (
          <>
            <p className={classes.words}>{answer.words}</p>
            {answer.missing_groups.length > 0 && (
              <MissingGroups answer={answer} />
            )}
            {answer.gone.length > 0 && <GoneList answer={answer} />}
          </>
        )}
      </QueryView>
    </Panel>
  );
}

function lookOf({ missing_total: missing, pending, complete }: Answer): Badge {
  if (complete) return COMPLETE;
  return missing === 0 && pending > 0 ? ARRIVING : MISSING;
}

/** Reasons that do not count as failures: no time, no agent, or cancelled. */
const QUIET: ReadonlySet<MissingCase['reason']> = new Set([
  'pending',
  'cancelled',
  'expired',
  'skipped',
]);

const MISSING_COLUMNS: readonly Column<MissingCase>[] = [
  { header: 'Benchmark', cell: ({ benchmark }) => benchmark },
  { header: 'Arm', cell: ({ arm }) => arm },
  { header: 'Params', cell: ({ params }) => paramsLabel(params) },
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName id={id} name={name} />
    ),
  },
];

function MissingGroups({
  answer: { missing, missing_groups: groups },
}: {
  answer: Answer;
}) {
  return (
    <ul className={classes.groups} aria-label="Missing cases">
      {groups.map((group) => (
        <MissingGroupItem
          key={`${group.reason} ${group.text}`}
          group={group}
          cases={missing.filter(
            ({ reason, text }) =>
              reason === group.reason && text === group.text,
          )}
        />
      ))}
    </ul>
  );
}

function MissingGroupItem({
  group,
  cases,
}: {
  group: MissingGroup;
  cases: readonly MissingCase[];
}) {
  const quiet = QUIET.has(group.reason);
  return (
    <li>
      <details>
        <summary>
          <span
            className={`${classes.reason} ${quiet ? tones.quiet : tones.bad}`}
          >
            <Icon name={quiet ? 'muted' : 'cross'} size={14} />
            {group.words}
          </span>
          <span className={classes.where}>
            {group.targets.map(({ id, name }) => (
              <TargetName key={id} id={id} name={name} link={false} />
            ))}
          </span>
          <span className={classes.text}>{group.text}</span>
        </summary>
        {cases.length < group.count && (
          <p className={classes.cut}>
            The first {formatInteger(cases.length)} of{' '}
            {formatInteger(group.count)}
          </p>
        )}
        <DataTable
          label={`Cases of: ${group.words}`}
          rows={cases}
          rowKey={({ job_id: job, benchmark, arm, params }) =>
            [job, benchmark, arm, paramsKey(params)].join('|')
          }
          columns={MISSING_COLUMNS}
        />
      </details>
    </li>
  );
}

function GoneList({ answer }: { answer: Answer }) {
  return (
    <ul className={classes.gone} aria-label="No longer declared">
      {answer.gone.map((gone) => (
        <GoneItem
          key={`${gone.benchmark} ${gone.arm}`}
          gone={gone}
          suite={answer.suite}
          runId={answer.run_id}
        />
      ))}
    </ul>
  );
}

function GoneItem({
  gone,
  suite,
  runId,
}: {
  gone: Gone;
  suite: string;
  runId: string;
}) {
  const session = useQuery(sessionQuery);
  const [opened, setAsked] = useState(false);
  const name =
    gone.arm === null ? gone.benchmark : `${gone.benchmark} ${gone.arm}`;
  return (
    <li>
      <p className={classes.words}>{gone.words}</p>
      {may(session.data, 'benchmarks.write') && !opened && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => setAsked(true)}
        >
          Retire {name}
        </Button>
      )}
      {opened && (
        <RetireForm gone={gone} suite={suite} runId={runId} name={name} />
      )}
    </li>
  );
}

function RetireForm({
  gone,
  suite,
  runId,
  name,
}: {
  gone: Gone;
  suite: string;
  runId: string;
  name: string;
}) {
  const queryClient = useQueryClient();
  const [reason, setReason] = useState('');
  const retire = useMutation({
    mutationFn: () =>
      retireBenchmark(
        { suite, benchmark: gone.benchmark, arm: gone.arm },
        reason.trim(),
      ),
    onSuccess: () =>
      queryClient.invalidateQueries({
        queryKey: [...runKeys.run(runId), 'completeness'],
      }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    retire.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs">
        <TextInput
          label={`Reason for retiring ${name}`}
          maxLength={500}
          w="22rem"
          maw="100%"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          disabled={reason.trim() === ''}
          loading={retire.isPending}
        >
          Retire
        </Button>
      </Group>
      {retire.error !== null && (
        <p role="alert" className={classes.refused}>
          Not retired: {retire.error.message}
        </p>
      )}
    </form>
  );
}
