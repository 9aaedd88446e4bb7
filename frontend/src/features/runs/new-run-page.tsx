/** Requesting a run: suite, benchmarks, targets, size, knobs. Knobs made for a demonstration stand apart. */
import { Alert, Button, Checkbox, Group, NumberInput, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { suitesQuery, targetsQuery } from '../../api/catalog';
import { isApiError } from '../../api/errors';
import { requestRun, runKeys } from '../../api/runs';
import type { Run, RunRequest, Suite, Target } from '../../api/types';
import { AppLink } from '../../ui/app-link';
import { CodeBox } from '../../ui/code-box';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { Loaded } from '../../ui/loaded';
import { HOLDS, TARGET_STATES } from '../../ui/looks';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { changedKnobs, KnobFields, type KnobValues } from './knob-fields';
import type { NewRunSearch } from './runs-search';

export interface NewRunPageProps {
  search: NewRunSearch;
  onSearch: (search: NewRunSearch) => void;
  onRequested: (run: Run) => void;
}

export function NewRunPage({ search, onSearch, onRequested }: NewRunPageProps) {
  const suites = useQuery(suitesQuery);
  return (
    <Page
      title="Run a suite"
      crumb={<AppLink to="/runs">Runs</AppLink>}
      lead="The run starts as soon as a target is free."
    >
      <Loaded query={suites} what="the suites">
        {(page) => {
          const suite = page.items.find(({ name }) => name === search.suite) ?? page.items[0];
          if (suite === undefined) return <NoSuites />;
          return (
            <>
              <Panel title="Suite" {...(suite.description === null ? {} : { note: suite.description })}>
                <FilterSelect
                  maw={420}
                  label="Suite"
                  value={suite.name}
                  onChange={(name) => onSearch(name === undefined ? {} : { suite: name })}
                  options={page.items.map(({ name, title }) => ({ value: name, label: title }))}
                />
              </Panel>
              <RunForm key={suite.name} suite={suite} onRequested={onRequested} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function NoSuites() {
  return (
    <Panel title="No suite to run">
      <EmptyState
        icon="runs"
        title="No agent has announced a suite"
        action={<CodeBox text="paceline-server enrolment-code" />}
      >
        Suites come from the repositories an agent is allowed to use. Enrol an agent and list a repository
        with a suite.toml in its configuration; its suites appear here with the next heartbeat.
      </EmptyState>
    </Panel>
  );
}

interface Draft {
  benchmarks: string[];
  targets: string[];
  /** Empty while the box is being edited. */
  launches: number | '';
  rounds: number | '';
  knobs: KnobValues;
}

/** Only what was chosen is sent: all benchmarks and no target mean "all" and "every online one". */
function toRequest(suite: Suite, draft: Draft): RunRequest {
  const knobs = changedKnobs(suite.knobs, draft.knobs);
  return {
    suite: suite.name,
    benchmarks: draft.benchmarks.length === suite.benchmarks.length ? null : draft.benchmarks,
    targets: draft.targets.length === 0 ? null : draft.targets,
    launches: Number(draft.launches),
    rounds: Number(draft.rounds),
    min_time_ns: 1_000_000,
    params: {},
    knobs,
    trigger: 'manual',
  };
}

function complete(draft: Draft): boolean {
  return draft.benchmarks.length > 0 && draft.launches !== '' && draft.rounds !== '';
}

function useRequest(suite: Suite, draft: Draft, onRequested: (run: Run) => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => requestRun(toRequest(suite, draft)),
    onSuccess: (run) => {
      queryClient.setQueryData(runKeys.run(run.id), run);
      void queryClient.invalidateQueries({ queryKey: ['runs', 'list'] });
      onRequested(run);
    },
  });
}

function RunForm({ suite, onRequested }: { suite: Suite; onRequested: (run: Run) => void }) {
  const [draft, setDraft] = useState<Draft>({
    benchmarks: suite.benchmarks.map(({ name }) => name),
    targets: [],
    launches: 5,
    rounds: 20,
    knobs: {},
  });
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const request = useRequest(suite, draft, onRequested);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    request.mutate();
  };
  return (
    <form onSubmit={submit} style={{ marginTop: '1rem' }}>
      <Panel title="What to measure">
        <Checkbox.Group
          label="Benchmarks"
          value={draft.benchmarks}
          onChange={(benchmarks) => change({ benchmarks })}
          error={draft.benchmarks.length === 0 ? 'Choose at least one benchmark.' : undefined}
        >
          <Stack gap="xs" mt="xs">
            {suite.benchmarks.map((benchmark) => (
              <Checkbox
                key={benchmark.name}
                value={benchmark.name}
                label={benchmark.title}
                description={`${benchmark.arms.join(' · ')} — reference: ${benchmark.reference}`}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      </Panel>
      <TargetChoice chosen={draft.targets} onChange={(targets) => change({ targets })} />
      <SizeFields draft={draft} onChange={change} />
      <KnobFields knobs={suite.knobs} values={draft.knobs} onChange={(knobs) => change({ knobs })} />
      {request.error !== null && <Refused error={request.error} />}
      <Group mt="md">
        <Button
          type="submit"
          loading={request.isPending}
          disabled={!complete(draft)}
          leftSection={<Icon name="play" size={16} />}
        >
          Start the run
        </Button>
        <AppLink to="/runs">Back to the runs</AppLink>
      </Group>
    </form>
  );
}

function TargetChoice({ chosen, onChange }: { chosen: string[]; onChange: (ids: string[]) => void }) {
  const targets = useQuery(targetsQuery);
  return (
    <Panel title="Where" note="Choose none to measure on every online target whose agent knows the suite.">
      <Loaded query={targets} what="the targets" lines={2}>
        {(page) =>
          page.items.length === 0 ? (
            <p>No target has reported yet. The run will wait for one.</p>
          ) : (
            <Checkbox.Group label="Targets" value={chosen} onChange={onChange}>
              <Stack gap="xs" mt="xs">
                {page.items.map((target) => (
                  <Checkbox key={target.id} value={target.id} label={<TargetLabel target={target} />} />
                ))}
              </Stack>
            </Checkbox.Group>
          )
        }
      </Loaded>
    </Panel>
  );
}

function TargetLabel({ target }: { target: Target }) {
  const look = target.hold === null ? TARGET_STATES[target.state] : HOLDS[target.hold];
  return (
    <Group gap="xs" component="span">
      <span>{target.name}</span>
      <Status look={look} />
    </Group>
  );
}

function SizeFields({ draft, onChange }: { draft: Draft; onChange: (part: Partial<Draft>) => void }) {
  const { launches, rounds } = draft;
  const thin = launches !== '' && rounds !== '' && (launches < 3 || launches * rounds < 30);
  return (
    <Panel
      title="How much"
      note="Launches are fresh processes; in each round every arm runs once, in random order."
    >
      <Group align="flex-start">
        <NumberInput
          label="Launches"
          min={1}
          max={100}
          allowDecimal={false}
          value={draft.launches}
          required
          onChange={(value) => onChange({ launches: value === '' ? '' : Number(value) })}
        />
        <NumberInput
          label="Rounds per launch"
          min={1}
          max={10_000}
          allowDecimal={false}
          value={draft.rounds}
          required
          onChange={(value) => onChange({ rounds: value === '' ? '' : Number(value) })}
        />
      </Group>
      {thin && (
        <p role="status" style={{ margin: '0.6rem 0 0', color: 'var(--pl-unsure)' }}>
          Fewer than 3 launches or 30 blocks cannot give a verdict: the result will be inconclusive.
        </p>
      )}
    </Panel>
  );
}

function Refused({ error }: { error: Error }) {
  const fields = isApiError(error) ? Object.entries(error.fields) : [];
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      mt="md"
      icon={<Icon name="warning" />}
      title="The run was not started"
    >
      {error.message}
      {fields.length > 0 && (
        <ul>
          {fields.map(([name, text]) => (
            <li key={name}>
              {name}: {text}
            </li>
          ))}
        </ul>
      )}
    </Alert>
  );
}
