/** The form that requests a run: suite, benchmarks, targets, size and knobs. */
import {
  Alert,
  Button,
  Checkbox,
  Group,
  NumberInput,
  Stack,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  keepPreviousData,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { announcedSuitesQuery } from '../../api/catalog';
import { targetsQuery } from '../../api/targets';
import { isApiError } from '../../api/errors';
import { estimateQuery, requestRun, runKeys, runQuery } from '../../api/runs';
import type {
  Benchmark,
  Preset,
  Run,
  RunEstimate,
  Suite,
  Target,
} from '../../api/types';
import { shortId } from '../../lib/ids';
import { compact } from '../../lib/search-values';
import { suiteToOpen } from '../../lib/suites';
import { formatInteger } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { CodeBox } from '../../ui/code-box';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { QueryView } from '../../ui/query-view';
import {
  HEALTH_STATES,
  MAINTENANCE_BADGES,
  TARGET_STATES,
} from '../../ui/state-badges';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { SimulatedMark } from '../../ui/target-name';
import { KnobFields } from './knob-fields';
import { ParamFields } from './param-fields';
import {
  chosenBenchmarks,
  isComplete,
  conflicts,
  goneSince,
  isCommit,
  isEverything,
  kindsOf,
  openingDraft,
  paramChoices,
  presetDraft,
  presetOf,
  repeatDraft,
  sizeOf,
  toRequest,
  EVERYTHING,
  ORDINARY_LAUNCHES,
  type Draft,
  type Size,
} from './run-draft';
import { SuppressFields } from './suppress-fields';
import type { NewRunSearch } from './runs-search';

/** Pause after the last change of the form, so that typing a number sends one request, ms. */
const ESTIMATE_AFTER_MS = 300;

export interface NewRunPageProps {
  search: NewRunSearch;
  onSearch: (search: NewRunSearch) => void;
  onRequested: (run: Run) => void;
}

export function NewRunPage({ search, onSearch, onRequested }: NewRunPageProps) {
  const suites = useQuery(announcedSuitesQuery);
  return (
    <Page
      title="Run a suite"
      crumb={<AppLink to="/runs">Runs</AppLink>}
      about="The run starts as soon as a target is free."
    >
      <QueryView query={suites} what="the suites">
        {(page) => {
          const suite = suiteToOpen(page.items, search.suite);
          if (suite === undefined) return <NoSuites />;
          return (
            <>
              <Panel
                title="Suite"
                {...(suite.description === null
                  ? {}
                  : { note: suite.description })}
              >
                <FilterSelect
                  maw={420}
                  label="Suite"
                  value={suite.name}
                  onChange={(name) =>
                    onSearch(
                      compact({ ...search, suite: name, repeat: undefined }),
                    )
                  }
                  options={page.items.map(({ name, title }) => ({
                    value: name,
                    label: title,
                  }))}
                />
              </Panel>
              {search.repeat === undefined ? (
                <RunForm
                  key={suite.name}
                  suite={suite}
                  search={search}
                  onRequested={onRequested}
                />
              ) : (
                <RepeatForm
                  key={search.repeat}
                  suite={suite}
                  search={search}
                  runId={search.repeat}
                  onRequested={onRequested}
                />
              )}
            </>
          );
        }}
      </QueryView>
    </Page>
  );
}

function NoSuites() {
  return (
    <Panel title="No suite to run">
      <EmptyState
        icon="runs"
        title="No suites yet"
        action={<CodeBox text="paceline-server enrolment-code" />}
      >
        Enrol an agent and list a repository with a suite.toml in its
        configuration. Its suites appear here with the next heartbeat.
      </EmptyState>
    </Panel>
  );
}

function useRequest(
  suite: Suite,
  draft: Draft,
  onRequested: (run: Run) => void,
) {
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

interface RunFormProps extends Pick<NewRunPageProps, 'search' | 'onRequested'> {
  suite: Suite;
  /** The run to repeat, whose request is filled in. */
  repeated?: Run;
}

function RepeatForm({ runId, ...rest }: RunFormProps & { runId: string }) {
  const run = useQuery(runQuery(runId));
  return (
    <QueryView query={run} what="the run to repeat" lines={6}>
      {(repeated) => <RunForm {...rest} repeated={repeated} />}
    </QueryView>
  );
}

/** Names the run that is repeated, its revision, and benchmarks that are no longer declared. */
function RepeatNotice({ run, suite }: { run: Run; suite: Suite }) {
  const gone = goneSince(suite, run);
  return (
    <Alert
      variant="outline"
      color="blue"
      mb="sm"
      role="status"
      icon={<Icon name="info" />}
    >
      Filled in as{' '}
      <AppLink to="/runs/$runId" params={{ runId: run.id }}>
        run {shortId(run.id)}
      </AppLink>{' '}
      was: the same choice, targets and size, at commit{' '}
      <span className="pl-mono">{run.commit.slice(0, 12)}</span>
      {run.branch !== null && ` of ${run.branch}`}. Empty the commit to measure
      the newest revision.
      {gone.length > 0 &&
        ` No longer declared, and left out: ${gone.join(', ')}.`}
    </Alert>
  );
}

function RunForm({ suite, search, onRequested, repeated }: RunFormProps) {
  const [draft, setDraft] = useState<Draft>(() => {
    if (repeated !== undefined) {
      const repeat = repeatDraft(suite, repeated);
      return { ...repeat, launches: search.launches ?? repeat.launches };
    }
    return openingDraft(suite, search);
  });
  // The branch of the repeated run does not apply to another commit.
  const change = (part: Partial<Draft>) =>
    setDraft((before) => ({
      ...before,
      ...(part.commit === undefined ? {} : { branch: '' }),
      ...part,
    }));
  const request = useRequest(suite, draft, onRequested);
  const choices = paramChoices(chosenBenchmarks(suite, draft));
  const inConflict = conflicts(choices, draft);
  const [debounced] = useDebouncedValue(draft, ESTIMATE_AFTER_MS);
  const wanted = toRequest(suite, debounced);
  const estimate = useQuery({
    ...estimateQuery(wanted),
    enabled:
      isComplete(debounced) && conflicts(choices, debounced).length === 0,
    placeholderData: keepPreviousData,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    request.mutate();
  };
  return (
    <form onSubmit={submit} style={{ marginTop: '1rem' }}>
      {repeated !== undefined && <RepeatNotice run={repeated} suite={suite} />}
      <Presets
        presets={suite.presets}
        current={presetOf(suite, draft)}
        everything={isEverything(suite, draft)}
        onPreset={(preset) =>
          setDraft((before) => presetDraft(suite, preset, before))
        }
        onEverything={() =>
          setDraft((before) => presetDraft(suite, EVERYTHING, before))
        }
      />
      <BenchmarkChoice
        suite={suite}
        chosen={draft.benchmarks}
        onChange={(benchmarks) => change({ benchmarks })}
      />
      <ParamFields
        choices={choices}
        conflicts={inConflict}
        params={draft.params}
        onChange={(params) => change({ params })}
      />
      <RevisionFields draft={draft} onChange={change} />
      <TargetChoice
        chosen={draft.targets}
        onChange={(targets) => change({ targets })}
      />
      <SuppressFields
        targets={draft.targets}
        value={draft.suppress}
        onChange={(suppress) => change({ suppress })}
      />
      <SizeFields
        draft={draft}
        suite={suite}
        estimate={estimate.data}
        onChange={change}
      />
      <KnobFields
        knobs={suite.knobs}
        values={draft.knobs}
        slowdowns={estimate.data?.slowdowns ?? []}
        onChange={(knobs) => change({ knobs })}
      />
      {request.error !== null && <RequestRefusal error={request.error} />}
      <Group mt="md">
        <Button
          type="submit"
          loading={request.isPending}
          disabled={!isComplete(draft) || inConflict.length > 0}
          leftSection={<Icon name="play" size={16} />}
        >
          Start run
        </Button>
        <AppLink to="/runs">Cancel</AppLink>
      </Group>
    </form>
  );
}

interface PresetsProps {
  presets: readonly Preset[];
  current: Preset | undefined;
  /** True if the form selects the whole suite. */
  everything: boolean;
  onPreset: (preset: Preset) => void;
  onEverything: () => void;
}

/** Shows the suite's presets; each fills in the form without sending it. */
function Presets({
  presets,
  current,
  everything,
  onPreset,
  onEverything,
}: PresetsProps) {
  if (presets.length === 0) return null;
  return (
    <Panel
      title="Start from"
      note="Fills in the form below. You can still change everything."
    >
      <Stack gap="xs">
        {presets.map((preset) => (
          <Group key={preset.name} gap="sm">
            <Button
              variant="default"
              aria-pressed={preset === current}
              leftSection={
                preset === current ? <Icon name="check" size={16} /> : undefined
              }
              onClick={() => onPreset(preset)}
            >
              {preset.title}
            </Button>
            <span style={{ color: 'var(--pl-muted)' }}>
              {preset.description}
            </span>
          </Group>
        ))}
        <Group gap="sm">
          <Button
            variant="default"
            aria-pressed={everything}
            leftSection={
              everything ? <Icon name="check" size={16} /> : undefined
            }
            onClick={onEverything}
          >
            The whole suite
          </Button>
          <span style={{ color: 'var(--pl-muted)' }}>
            Every benchmark at all its declared values.
          </span>
        </Group>
      </Stack>
    </Panel>
  );
}

interface BenchmarkChoiceProps {
  suite: Suite;
  chosen: string[];
  onChange: (benchmarks: string[]) => void;
}

function armsText({
  name,
  arms,
  reference,
  device_reference: onDevices,
}: Benchmark): string {
  const other = onDevices === reference ? '' : ` (on devices ${onDevices})`;
  return `${name}: ${arms.join(' · ')} — reference: ${reference}${other}`;
}

function BenchmarkChoice({ suite, chosen, onChange }: BenchmarkChoiceProps) {
  const all = suite.benchmarks.map(({ name }) => name);
  const quick = all.length > 1 && (
    <Group gap="xs">
      <Button variant="default" size="compact-sm" onClick={() => onChange(all)}>
        Select all
      </Button>
      <Button variant="default" size="compact-sm" onClick={() => onChange([])}>
        Select none
      </Button>
    </Group>
  );
  return (
    <Panel title="What to measure" actions={quick}>
      <Checkbox.Group
        label="Benchmarks"
        value={chosen}
        onChange={onChange}
        error={
          chosen.length === 0 ? 'Select at least one benchmark.' : undefined
        }
      >
        <Stack gap="xs" mt="xs">
          {suite.benchmarks.map((benchmark) => (
            <Checkbox
              key={benchmark.name}
              value={benchmark.name}
              label={benchmark.title}
              description={armsText(benchmark)}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </Panel>
  );
}

function TargetChoice({
  chosen,
  onChange,
}: {
  chosen: string[];
  onChange: (ids: string[]) => void;
}) {
  const targets = useQuery({
    ...targetsQuery,
    select: ({ items }) => items.filter(canMeasure),
  });
  return (
    <Panel
      title="Targets"
      note="Select none to use all online targets that know the suite."
    >
      <QueryView query={targets} what="the targets" lines={2}>
        {(measuringTargets) =>
          measuringTargets.length === 0 ? (
            <p>No targets yet. The run waits for one.</p>
          ) : (
            <Checkbox.Group label="Targets" value={chosen} onChange={onChange}>
              <Stack gap="xs" mt="xs">
                {measuringTargets.map((target) => (
                  <Checkbox
                    key={target.id}
                    value={target.id}
                    label={<TargetLabel target={target} />}
                  />
                ))}
              </Stack>
            </Checkbox.Group>
          )
        }
      </QueryView>
    </Panel>
  );
}

/** Returns whether a target can measure; one with imported measurements only cannot. */
function canMeasure({ imported }: Target): boolean {
  return !imported;
}

/** Returns the badge of why the target takes no jobs, otherwise of its state. */
function lookOf({ kind, state, health, maintenance }: Target) {
  if (maintenance !== null) return MAINTENANCE_BADGES.maintenance;
  const held =
    kind === 'device' &&
    (health.state === 'recovering' || health.state === 'quarantined');
  return held ? HEALTH_STATES[health.state] : TARGET_STATES[state];
}

function TargetLabel({ target }: { target: Target }) {
  const look = lookOf(target);
  return (
    <Group gap="xs" component="span">
      <span>{target.name}</span>
      <Status look={look} />
      {target.simulated && <SimulatedMark />}
    </Group>
  );
}

interface SizeFieldsProps {
  draft: Draft;
  suite: Suite;
  estimate: RunEstimate | undefined;
  onChange: (part: Partial<Draft>) => void;
}

function SizeFields({ draft, suite, estimate, onChange }: SizeFieldsProps) {
  const { launches, rounds } = draft;
  const kinds = kindsOf(
    useQuery(targetsQuery).data?.items ?? [],
    draft.targets,
  );
  const least = launches === '' ? ORDINARY_LAUNCHES.host : launches;
  const thin = rounds !== '' && (least < 3 || least * rounds < 30);
  return (
    <Panel
      title="Size"
      about="A launch is a fresh process. In each round every arm runs once, in random order. A group is one benchmark at one point of its params."
    >
      <Group align="flex-start">
        <NumberInput
          label="Launches"
          min={1}
          max={100}
          allowDecimal={false}
          miw={260}
          placeholder={`${ORDINARY_LAUNCHES.host} on a host, ${ORDINARY_LAUNCHES.device} on a device`}
          value={draft.launches}
          onChange={(value) =>
            onChange({ launches: value === '' ? '' : Number(value) })
          }
        />
        <NumberInput
          label="Rounds per launch"
          min={1}
          max={10_000}
          allowDecimal={false}
          value={draft.rounds}
          required
          onChange={(value) =>
            onChange({ rounds: value === '' ? '' : Number(value) })
          }
        />
      </Group>
      {thin && (
        <p
          role="status"
          style={{ margin: '0.6rem 0 0', color: 'var(--pl-unsure)' }}
        >
          With fewer than 3 launches or 30 blocks, every verdict is
          inconclusive.
        </p>
      )}
      {isComplete(draft) && (
        <RunSize suite={suite} draft={draft} kinds={kinds} />
      )}
      {isComplete(draft) && estimate !== undefined && (
        <p role="status" aria-label="Duration" style={{ margin: '0.4rem 0 0' }}>
          {estimate.words}
        </p>
      )}
    </Panel>
  );
}

function RequestRefusal({ error }: { error: Error }) {
  const fields = isApiError(error) ? Object.entries(error.fields) : [];
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      mt="md"
      icon={<Icon name="warning" />}
      title="Run not started"
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

/** The fields of one revision, or of two that are measured interleaved. */
interface RevisionFieldsProps {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
}

const complaint = (commit: string) =>
  isCommit(commit)
    ? undefined
    : 'Expected 7 to 64 hexadecimal digits of a commit.';

function RevisionFields({ draft, onChange }: RevisionFieldsProps) {
  return (
    <Panel
      title="Revision"
      note={
        draft.base.trim() === ''
          ? 'Leave both empty to measure the newest revision. A base makes it an A/B run.'
          : 'An A/B run builds both revisions and measures them interleaved in one job.'
      }
    >
      <Group align="flex-start">
        <TextInput
          label="Commit"
          placeholder="newest"
          maxLength={64}
          w="24rem"
          maw="100%"
          value={draft.commit}
          error={complaint(draft.commit)}
          onChange={(event) => onChange({ commit: event.currentTarget.value })}
        />
        <TextInput
          label="Base commit"
          placeholder="none"
          maxLength={64}
          w="24rem"
          maw="100%"
          value={draft.base}
          error={complaint(draft.base)}
          onChange={(event) => onChange({ base: event.currentTarget.value })}
        />
      </Group>
    </Panel>
  );
}

const counted = (count: number, singular: string, many: string) =>
  `${formatInteger(count)} ${count === 1 ? singular : many}`;

/** Returns the size in words, e.g. `5 launches × 20 rounds, 5 fresh processes on each target`. */
function launchesText(
  { launches, starts }: Size,
  { base, rounds }: Draft,
): string {
  const of = base.trim() === '' ? '' : ' of each revision';
  return (
    `${counted(launches, 'launch', 'launches')} × ${counted(Number(rounds), 'round', 'rounds')}${of}, ` +
    `${counted(starts, 'fresh process', 'fresh processes')} on each target`
  );
}

function sizeText(
  suite: Suite,
  draft: Draft,
  kinds: readonly Target['kind'][],
): string {
  const [first, ...others] = kinds.map((kind) => ({
    kind,
    size: sizeOf(suite, draft, kind),
  }));
  if (first === undefined) return '';
  const { groups, cases } = first.size;
  const all = `${counted(groups, 'group', 'groups')} with ${counted(cases, 'case', 'cases')}`;
  const differs = others.some(
    ({ size }) => size.launches !== first.size.launches,
  );
  if (!differs) return `${all}; ${launchesText(first.size, draft)}.`;
  const perKind = [first, ...others].map(
    ({ kind, size }) => `on a ${kind} ${launchesText(size, draft)}`,
  );
  return `${all}; ${perKind.join('; ')}.`;
}

interface RunSizeProps {
  suite: Suite;
  draft: Draft;
  kinds: readonly Target['kind'][];
}

function RunSize({ suite, draft, kinds }: RunSizeProps) {
  return (
    <p
      role="status"
      aria-label="Size of the run"
      style={{ margin: '0.75rem 0 0' }}
    >
      <strong>This run measures</strong> {sizeText(suite, draft, kinds)}
    </p>
  );
}
