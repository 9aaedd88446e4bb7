/**
 * Holds a request for a run that is being edited, and makes the body to send of it, without side effects.
 * Invariant: only what was selected is sent; an empty selection means everything declared. The server
 * validates it again.
 */
import type {
  Benchmark,
  Param,
  Preset,
  Run,
  RunRequest,
  Suite,
  Target,
} from '../../api/types';
import { formatParam } from '../../lib/params';
import { changedKnobs, type KnobValues } from './knob-fields';

export type ParamValue = number | string;

export interface Draft {
  benchmarks: string[];
  targets: string[];
  /** Names of configuration errors that do not invalidate the jobs of the run. */
  suppress: string[];
  /** Empty means the newest commit that the agents know. */
  commit: string;
  /** Branch of the commit of a repeated run; otherwise the server determines it. */
  branch: string;
  /** An A/A run measures the noise floor. */
  trigger: 'manual' | 'a_a';
  /** Least time one sample takes. */
  minTimeNs: number;
  /** Makes an A/B run, which measures `base` and `commit` interleaved; empty for an ordinary run. */
  base: string;
  /** The pull request of a repeated run, and the branch of its base. */
  pullRequest: Pick<Run, 'pull_request' | 'base_branch'> | null;
  /** Launches of a batch on each target; empty means the default for its kind. */
  launches: number | '';
  /** Empty while the box is being edited. */
  rounds: number | '';
  /** Chosen values by param; a param without chosen values is measured at all its declared values. */
  params: Readonly<Record<string, readonly ParamValue[]>>;
  knobs: KnobValues;
}

/** The server's default (stats/README.md §1). */
const MIN_TIME_NS = 1_000_000;

/** The server's default launches of a batch (stats/README.md §1). */
export const ORDINARY_LAUNCHES: Record<Target['kind'], number> = {
  host: 5,
  device: 10,
};

export function freshDraft(suite: Suite): Draft {
  return {
    benchmarks: suite.benchmarks.map(({ name }) => name),
    targets: [],
    suppress: [],
    commit: '',
    base: '',
    pullRequest: null,
    branch: '',
    trigger: 'manual',
    minTimeNs: MIN_TIME_NS,
    launches: '',
    rounds: 20,
    params: {},
    knobs: {},
  };
}

/** Returns the draft of the request for `run`, without what the suite no longer declares. */
export function repeatDraft(suite: Suite, run: Run): Draft {
  const declared = new Set(suite.benchmarks.map(({ name }) => name));
  const launches = [...new Set(run.jobs.map((job) => job.launches))];
  return {
    ...freshDraft(suite),
    benchmarks: run.benchmarks.filter((name) => declared.has(name)),
    targets: [...new Set(run.jobs.map((job) => job.target_id))],
    suppress: run.suppress,
    commit: run.commit,
    base: run.base_commit ?? '',
    pullRequest: run.judges_head
      ? { pull_request: run.pull_request, base_branch: run.base_branch }
      : null,
    branch: run.branch ?? '',
    trigger: run.trigger === 'a_a' ? 'a_a' : 'manual',
    minTimeNs: run.min_time_ns,
    // Different launches on hosts and devices are the defaults of their kinds.
    launches: launches.length === 1 ? (launches[0] ?? '') : '',
    rounds: run.rounds,
    params: run.params,
    knobs: run.knobs,
  };
}

/** Returns the benchmarks of a run that its suite no longer declares, which cannot be repeated. */
export function goneSince(suite: Suite, run: Run): string[] {
  return run.benchmarks.filter((name) =>
    suite.benchmarks.every((benchmark) => benchmark.name !== name),
  );
}

/** Returns a text that is equal for drafts with the same selection and size. */
function selectionKey({ benchmarks, params, launches, rounds }: Draft): string {
  return JSON.stringify([
    benchmarks.toSorted(),
    Object.entries(params)
      .filter(([, values]) => values.length > 0)
      .map(([name, values]) => [name, values.map(String).toSorted()])
      .toSorted(),
    launches,
    rounds,
  ]);
}

/** Returns the preset with exactly this selection, if there is one. */
export function presetOf(suite: Suite, draft: Draft): Preset | undefined {
  return suite.presets.find(
    (preset) =>
      selectionKey(presetDraft(suite, preset, draft)) === selectionKey(draft),
  );
}

/** The preset of everything that is declared. */
export const EVERYTHING: Pick<
  Preset,
  'benchmarks' | 'params' | 'launches' | 'rounds'
> = {
  benchmarks: null,
  params: {},
  launches: null,
  rounds: null,
};

/** Returns the draft of a preset; a field that the preset lacks means everything declared, or the default size. */
export function presetDraft(
  suite: Suite,
  preset: typeof EVERYTHING,
  before: Draft,
): Draft {
  const fresh = freshDraft(suite);
  return {
    ...fresh,
    benchmarks: preset.benchmarks ?? fresh.benchmarks,
    params: preset.params,
    launches: preset.launches ?? fresh.launches,
    rounds: preset.rounds ?? fresh.rounds,
    targets: before.targets,
    suppress: before.suppress,
    commit: before.commit,
    base: before.base,
    branch: before.branch,
    trigger: before.trigger,
    minTimeNs: before.minTimeNs,
    knobs: before.knobs,
  };
}

/** The preset that a suite names for people who measure it for the first time (paceline_contract/manifest.py). */
const FIRST_LOOK = 'first_look';

/**
 * Returns the draft that the form opens with: the suite's preset `first_look`, because a whole suite may take hours; if
 * another page gave the revisions, everything.
 */
export function openingDraft(
  suite: Suite,
  { commit = '', base = '' }: { commit?: string; base?: string },
): Draft {
  const fresh = { ...freshDraft(suite), commit, base };
  const firstLook = suite.presets.find(({ name }) => name === FIRST_LOOK);
  return firstLook === undefined || commit !== '' || base !== ''
    ? fresh
    : presetDraft(suite, firstLook, fresh);
}

/** Returns whether the draft selects every benchmark at all its values, at the default size. */
export function isEverything(suite: Suite, draft: Draft): boolean {
  return selectionKey(draft) === selectionKey(freshDraft(suite));
}

export function chosenBenchmarks(suite: Suite, draft: Draft): Benchmark[] {
  return suite.benchmarks.filter(({ name }) => draft.benchmarks.includes(name));
}

/** A value of a chip, and the chosen benchmarks that have the param but do not accept the value. */
export interface Choice {
  value: ParamValue;
  missing: string[];
}

export interface ParamChoice {
  name: string;
  unit: string | null;
  description: string | null;
  choices: Choice[];
}

/** Returns whether a value is declared or is a whole number in the range of the param, as the server does. */
function acceptsValue(
  { kind, values, minimum, maximum }: Param,
  value: ParamValue,
): boolean {
  if (values.includes(value)) return true;
  const [low, high] = [minimum ?? null, maximum ?? null];
  if (
    kind !== 'int' ||
    typeof value !== 'number' ||
    (low === null && high === null)
  )
    return false;
  return value >= (low ?? 0) && value <= (high ?? Number.MAX_SAFE_INTEGER);
}

/** Returns the params of the chosen benchmarks with every declared value, in declared order. */
export function paramChoices(benchmarks: readonly Benchmark[]): ParamChoice[] {
  const names = [
    ...new Set(
      benchmarks.flatMap(({ params }) => params.map(({ name }) => name)),
    ),
  ];
  return names.map((name) => {
    const declarations = benchmarks.flatMap((benchmark) =>
      benchmark.params
        .filter((param) => param.name === name)
        .map((param) => ({ benchmark, param })),
    );
    const values = [
      ...new Set(declarations.flatMap(({ param }) => param.values)),
    ];
    const sorted = values.every((value) => typeof value === 'number')
      ? values.toSorted((a, b) => a - b)
      : values;
    return {
      name,
      unit: declarations.find(({ param }) => param.unit)?.param.unit ?? null,
      description:
        declarations.find(({ param }) => param.description)?.param
          .description ?? null,
      choices: sorted.map((value) => ({
        value,
        missing: declarations
          .filter(({ param }) => !acceptsValue(param, value))
          .map(({ benchmark }) => benchmark.name),
      })),
    };
  });
}

/** Returns a sentence for each chosen value that a chosen benchmark does not declare, which the server would refuse. */
export function conflicts(
  choices: readonly ParamChoice[],
  draft: Draft,
): string[] {
  return choices.flatMap(({ name, choices: values }) =>
    values
      .filter(
        ({ value, missing }) =>
          missing.length > 0 && (draft.params[name] ?? []).includes(value),
      )
      .map(
        ({ value, missing }) =>
          `${missing.join(' and ')} does not take ${name} ${formatParam(value)}: ` +
          'leave out that value or the benchmark.',
      ),
  );
}

export interface Size {
  /** One benchmark at one point of its params; its arms are measured side by side. */
  groups: number;
  cases: number;
  /** Launches on each target of this kind. */
  launches: number;
  /** Fresh processes on each target: every launch starts each workload once. */
  starts: number;
}

function countPoints(benchmark: Benchmark, draft: Draft): number {
  return benchmark.params.reduce((points, { name, values }) => {
    const chosen = draft.params[name] ?? [];
    return points * (chosen.length === 0 ? values.length : chosen.length);
  }, 1);
}

/** Returns the kinds of the selected targets, hosts first; of all targets if none is selected. */
export function kindsOf(
  targets: readonly Target[],
  chosen: readonly string[],
): Target['kind'][] {
  const chosenTargets = targets.filter(
    ({ id }) => chosen.length === 0 || chosen.includes(id),
  );
  const kinds = (['host', 'device'] as const).filter((kind) =>
    chosenTargets.some((target) => target.kind === kind),
  );
  return kinds.length === 0 ? ['host'] : kinds;
}

export function sizeOf(suite: Suite, draft: Draft, kind: Target['kind']): Size {
  const benchmarks = chosenBenchmarks(suite, draft);
  const cases = benchmarks.reduce(
    (sum, benchmark) =>
      sum + countPoints(benchmark, draft) * benchmark.arms.length,
    0,
  );
  const launches =
    draft.launches === '' ? ORDINARY_LAUNCHES[kind] : draft.launches;
  // An A/B run starts each launch twice, once per revision.
  const starts = launches * (draft.base.trim() === '' ? 1 : 2);
  return {
    groups: benchmarks.reduce(
      (sum, benchmark) => sum + countPoints(benchmark, draft),
      0,
    ),
    cases,
    launches,
    starts: new Set(benchmarks.map(({ workload }) => workload)).size * starts,
  };
}

const COMMIT = /^[0-9a-f]{7,64}$/;

/** Returns whether the server accepts the commit; an empty one is allowed. */
export function isCommit(commit: string): boolean {
  return commit.trim() === '' || COMMIT.test(commit.trim());
}

export function isComplete(draft: Draft): boolean {
  const named = isCommit(draft.commit) && isCommit(draft.base);
  return draft.benchmarks.length > 0 && draft.rounds !== '' && named;
}

/** Returns the fields of the request that select the revisions. */
function revisionsOf(draft: Draft): Partial<RunRequest> {
  const [commit, base] = [draft.commit.trim(), draft.base.trim()];
  if (draft.pullRequest !== null && commit !== '') {
    const { pull_request, base_branch } = draft.pullRequest;
    return {
      head: commit,
      ...(base === '' ? { base_branch } : { base }),
      ...(pull_request === null ? {} : { pull_request }),
    };
  }
  return {
    ...(commit === '' ? {} : { commit }),
    ...(commit === '' || draft.branch === '' ? {} : { branch: draft.branch }),
    ...(base === '' ? {} : { base_commit: base }),
  };
}

export function toRequest(suite: Suite, draft: Draft): RunRequest {
  const declared = new Set(
    paramChoices(chosenBenchmarks(suite, draft)).map(({ name }) => name),
  );
  const params = Object.entries(draft.params).filter(
    ([name, values]) => declared.has(name) && values.length > 0,
  );
  return {
    suite: suite.name,
    benchmarks:
      draft.benchmarks.length === suite.benchmarks.length
        ? null
        : draft.benchmarks,
    targets: draft.targets.length === 0 ? null : draft.targets,
    ...(draft.suppress.length === 0 ? {} : { suppress: draft.suppress }),
    ...revisionsOf(draft),
    launches: draft.launches === '' ? null : draft.launches,
    rounds: Number(draft.rounds),
    min_time_ns: draft.minTimeNs,
    params: Object.fromEntries(
      params.map(([name, values]) => [name, [...values]]),
    ),
    knobs: changedKnobs(suite.knobs, draft.knobs),
    trigger:
      draft.base.trim() === draft.commit.trim() ? draft.trigger : 'manual',
  };
}
