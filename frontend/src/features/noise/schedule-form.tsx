/** A new repeated run: what, where, how often. Its size is the ordinary one of each target. */
import { Alert as Notice, Button, Checkbox, Group, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { suitesQuery } from '../../api/catalog';
import { targetsQuery } from '../../api/targets';
import { isApiError } from '../../api/errors';
import { createSchedule, schedulesQuery } from '../../api/schedules';
import type { Schedule, ScheduleRequest } from '../../api/types';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { targetOption } from '../../ui/target-labels';
import classes from './noise.module.css';

/** Offered rhythms, seconds. */
const RHYTHMS = [
  { value: '21600', label: 'every 6 hours' },
  { value: '86400', label: 'every day' },
  { value: '604800', label: 'every week' },
] as const;

const KINDS: readonly { value: Schedule['kind']; label: string }[] = [
  { value: 'a_a', label: 'A/A run' },
  { value: 'measure', label: 'measurement' },
];

function useCreate(onDone: () => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: createSchedule,
    onSuccess: onDone,
    onSettled: () => queryClient.invalidateQueries({ queryKey: schedulesQuery.queryKey }),
  });
}

interface Draft {
  name: string;
  kind: Schedule['kind'];
  /** Absent: the first suite there is. */
  suite: string | undefined;
  target: string | undefined;
  every: string;
  enabled: boolean;
}

/** As large as an ordinary run: launches are left to the server, that gives a device more than a host. */
function toRequest(draft: Draft, suite: string): ScheduleRequest {
  return {
    name: draft.name.trim(),
    kind: draft.kind,
    suite,
    target_id: draft.target ?? null,
    params: {},
    rounds: 20,
    min_time_ns: 1_000_000,
    every_s: Number(draft.every),
    enabled: draft.enabled,
  };
}

export function ScheduleForm({ target }: { target: string | undefined }) {
  const suites = useQuery(suitesQuery).data?.items ?? [];
  const [draft, setDraft] = useState<Draft>({
    name: '',
    kind: 'a_a',
    suite: undefined,
    target,
    every: '86400',
    enabled: true,
  });
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const create = useCreate(() => change({ name: '' }));
  const suite = draft.suite ?? suites[0]?.name;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (suite !== undefined) create.mutate(toRequest(draft, suite));
  };
  return (
    <form onSubmit={submit} aria-label="A new repeated run" className={classes.form}>
      <Group gap="sm" align="flex-end">
        <TextInput
          label="Name"
          required
          maxLength={100}
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <FilterSelect
          label="Suite to run"
          value={suite}
          options={suites.map((each) => ({ value: each.name, label: each.title }))}
          onChange={(next) => change({ suite: next })}
        />
        <Choices draft={draft} change={change} />
        <Button
          type="submit"
          variant="default"
          loading={create.isPending}
          disabled={draft.name.trim() === '' || suite === undefined}
        >
          Add
        </Button>
      </Group>
      {create.error !== null && <NotAdded error={create.error} />}
    </form>
  );
}

function Choices({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  const targets = useQuery(targetsQuery).data?.items ?? [];
  return (
    <>
      <FilterSelect
        label="What"
        value={draft.kind}
        options={KINDS}
        onChange={(next) => change({ kind: KINDS.find(({ value }) => value === next)?.value ?? 'a_a' })}
      />
      <FilterSelect
        label="Where"
        all="every online target"
        value={draft.target}
        options={targets.map(targetOption)}
        onChange={(target) => change({ target })}
      />
      <FilterSelect
        label="How often"
        value={draft.every}
        options={RHYTHMS}
        onChange={(next) => change({ every: next ?? '86400' })}
      />
      <Checkbox
        label="Switched on"
        checked={draft.enabled}
        mb={8}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
    </>
  );
}

function NotAdded({ error }: { error: Error }) {
  const fields = isApiError(error) ? Object.entries(error.fields) : [];
  return (
    <Notice color="red" variant="outline" role="alert" mt="sm" icon={<Icon name="warning" />}>
      Not added: {error.message}
      {fields.map(([field, text]) => (
        <div key={field}>
          {field}: {text}
        </div>
      ))}
    </Notice>
  );
}
