/**
 * What the run owed and what arrived: every missing case with its reason, and benchmarks that earlier runs
 * had and this one does not know any more. One that is gone on purpose is retired here, by a person.
 */
import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { completenessQuery } from '../../api/reports';
import { runEnded, runKeys } from '../../api/runs';
import { retireBenchmark } from '../../api/series';
import { may, sessionQuery } from '../../api/session';
import type { Completeness as Answer, Gone, Run } from '../../api/types';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { Status, type Badge } from '../../ui/status';
import classes from './completeness.module.css';
import { MissingGroups } from './missing-groups';

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

function GoneList({ answer }: { answer: Answer }) {
  return (
    <ul
      className={classes.gone}
      aria-label="Measured before and declared no more"
    >
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
  const [asked, setAsked] = useState(false);
  const name =
    gone.arm === null ? gone.benchmark : `${gone.benchmark} ${gone.arm}`;
  return (
    <li>
      <p className={classes.words}>{gone.words}</p>
      {may(session.data, 'alerts:write') && !asked && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => setAsked(true)}
        >
          Retire {name}
        </Button>
      )}
      {asked && (
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
          label={`Why ${name} is gone on purpose`}
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
          Retire it
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
