/**
 * The form of a schedule: what to run, where and how often, at the default size. Only the interval of an
 * existing schedule can change: with another selection its measurements would not be comparable under the
 * same name.
 */
import {
  Alert as Notice,
  Button,
  Checkbox,
  Group,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { announcedSuitesQuery } from '../../api/catalog';
import { targetsQuery } from '../../api/targets';
import { isApiError } from '../../api/errors';
import {
  changeSchedule,
  createSchedule,
  schedulesQuery,
} from '../../api/schedules';
import type { Schedule, ScheduleRequest } from '../../api/types';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { targetOption } from '../../ui/target-labels';
import classes from './noise.module.css';
import { intervalText, INTERVALS } from './schedule-intervals';

const KINDS: readonly { value: Schedule['kind']; label: string }[] = [
  { value: 'a_a', label: 'A/A run' },
  { value: 'measure', label: 'measurement' },
];

function useCreate(onDone: () => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: createSchedule,
    onSuccess: onDone,
    onSettled: () =>
      queryClient.invalidateQueries({ queryKey: schedulesQuery.queryKey }),
  });
}

interface Draft {
  name: string;
  kind: Schedule['kind'];
  /** The first suite is used if none is given. */
  suite: string | undefined;
  target: string | undefined;
  every: string;
  enabled: boolean;
}

/** Makes a request of ordinary size: the server chooses the launches, more for a device than for a host. */
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
  const suites = useQuery(announcedSuitesQuery).data?.items ?? [];
  const [draft, setDraft] = useState<Draft>({
    name: '',
    kind: 'a_a',
    suite: undefined,
    target,
    every: '86400',
    enabled: true,
  });
  const change = (part: Partial<Draft>) =>
    setDraft((before) => ({ ...before, ...part }));
  const create = useCreate(() => change({ name: '' }));
  const suite = draft.suite ?? suites[0]?.name;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (suite !== undefined) create.mutate(toRequest(draft, suite));
  };
  return (
    <form
      onSubmit={submit}
      aria-label="Add a schedule"
      className={classes.form}
    >
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
          options={suites.map((option) => ({
            value: option.name,
            label: option.title,
          }))}
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
      {create.error !== null && (
        <ErrorNotice what="Not added" error={create.error} />
      )}
    </form>
  );
}

function Choices({
  draft,
  change,
}: {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}) {
  const targets = useQuery(targetsQuery).data?.items ?? [];
  return (
    <>
      <FilterSelect
        label="Kind"
        value={draft.kind}
        options={KINDS}
        onChange={(next) =>
          change({
            kind: KINDS.find(({ value }) => value === next)?.value ?? 'a_a',
          })
        }
      />
      <FilterSelect
        label="Targets"
        all="all online targets"
        value={draft.target}
        options={targets.map(targetOption)}
        onChange={(target) => change({ target })}
      />
      <IntervalSelect
        value={draft.every}
        onChange={(every) => change({ every })}
      />
      <Checkbox
        label="On"
        checked={draft.enabled}
        mb={8}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
    </>
  );
}

function IntervalSelect({
  value,
  onChange,
}: {
  value: string;
  onChange: (value: string) => void;
}) {
  // An interval that was set through the API may be none of the offered ones.
  const other = INTERVALS.some((interval) => interval.value === value)
    ? []
    : [{ value, label: intervalText(Number(value)) }];
  return (
    <FilterSelect
      label="How often"
      value={value}
      options={[...INTERVALS, ...other]}
      onChange={(next) => onChange(next ?? value)}
    />
  );
}

interface ScheduleChangeFormProps {
  schedule: Schedule;
  onDone: () => void;
}

/**
 * Edits the interval of a schedule. Keeps the schedule it was opened for, so that a refusal stays readable.
 */
export function ScheduleChangeForm({
  schedule,
  onDone,
}: ScheduleChangeFormProps) {
  const [every, setEvery] = useState(String(schedule.every_s));
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: () => changeSchedule(schedule.id, { every_s: Number(every) }),
    onSuccess: onDone,
    onSettled: () =>
      queryClient.invalidateQueries({ queryKey: schedulesQuery.queryKey }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const label = `Change ${schedule.name}`;
  return (
    <form onSubmit={submit} aria-label={label} className={classes.form}>
      <p className={classes.about}>
        <strong>{label}.</strong> A new interval applies from the next run on.
        To measure something else or elsewhere, add another schedule and remove
        this one.
      </p>
      <Group gap="sm" align="flex-end">
        <IntervalSelect value={every} onChange={setEvery} />
        <Button
          type="submit"
          loading={save.isPending}
          disabled={Number(every) === schedule.every_s}
        >
          Save
        </Button>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      </Group>
      {save.error !== null && (
        <ErrorNotice what="Not changed" error={save.error} />
      )}
    </form>
  );
}

function ErrorNotice({ what, error }: { what: string; error: Error }) {
  const fields = isApiError(error) ? Object.entries(error.fields) : [];
  return (
    <Notice
      color="red"
      variant="outline"
      role="alert"
      mt="sm"
      icon={<Icon name="warning" />}
    >
      {what}: {error.message}
      {fields.map(([field, text]) => (
        <div key={field}>
          {field}: {text}
        </div>
      ))}
    </Notice>
  );
}
