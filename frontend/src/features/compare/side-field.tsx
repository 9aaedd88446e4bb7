/** Takes one side of a comparison: free text, with recent branches, commits and runs to choose from. */
import { Autocomplete } from '@mantine/core';

import type { Run } from '../../api/types';
import { shortId } from '../../lib/ids';
import { TRIGGER_LABELS } from '../../ui/state-badges';
import { TimeAgo } from '../../ui/time-ago';
import classes from './compare.module.css';

/** A choice of a side: `name` is shown and typed, `side` is what it stands for. */
export interface Choice {
  name: string;
  side: string;
  run: Run;
}

export interface Choices {
  branches: readonly Choice[];
  commits: readonly Choice[];
  runs: readonly Choice[];
}

/** Digits of a commit in a choice; the server accepts seven or more. */
const COMMIT_DIGITS = 12;
/** Triggers of runs that measure a revision for its history. */
const ORDINARY: ReadonlySet<Run['trigger']> = new Set([
  'manual',
  'schedule',
  'ci',
]);

function namesOf(choices: readonly Choice[]): string[] {
  return choices.map(({ name }) => name);
}

/** Returns the first choice of each name. */
function removeDuplicates(choices: readonly Choice[]): Choice[] {
  return [
    ...new Map(
      choices.toReversed().map((choice) => [choice.name, choice]),
    ).values(),
  ].toReversed();
}

function shortCommit({ commit }: Run): string {
  return commit.slice(0, COMMIT_DIGITS);
}

/** Returns the choices that recent runs, the newest first, offer. */
export function choicesOf(runs: readonly Run[]): Choices {
  const measured = runs.filter(({ state }) => state === 'done');
  const ordinary = measured.filter(
    (run) =>
      ORDINARY.has(run.trigger) &&
      run.base_commit === null &&
      !run.demonstration,
  );
  return {
    branches: removeDuplicates(
      ordinary.flatMap((run) =>
        run.branch === null
          ? []
          : [{ name: run.branch, side: shortCommit(run), run }],
      ),
    ),
    commits: removeDuplicates(
      ordinary.map((run) => ({
        name: shortCommit(run),
        side: shortCommit(run),
        run,
      })),
    ),
    runs: measured.map((run) => ({ name: run.id, side: run.id, run })),
  };
}

/** Returns what a text stands for: the newest measured commit of a branch, or itself. */
export function sideOf(text: string, { branches }: Choices): string {
  const name = text.trim();
  return branches.find((branch) => branch.name === name)?.side ?? name;
}

export function SideField({
  label,
  placeholder,
  value,
  choices,
  onChange,
}: {
  label: string;
  placeholder: string;
  value: string;
  choices: Choices;
  onChange: (value: string) => void;
}) {
  const { branches, commits, runs } = choices;
  const choicesByName = new Map(
    [...runs, ...commits, ...branches].map((choice) => [choice.name, choice]),
  );
  const otherCommits = commits.filter(
    ({ name }) => !branches.some((branch) => branch.name === name),
  );
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      maxLength={200}
      className={classes.side ?? ''}
      value={value}
      onChange={onChange}
      limit={60}
      maxDropdownHeight={360}
      data={[
        { group: 'Newest of a branch', items: namesOf(branches) },
        { group: 'Commits', items: namesOf(otherCommits) },
        { group: 'Runs', items: namesOf(runs) },
      ]}
      renderOption={({ option }) => {
        const choice = choicesByName.get(option.value);
        return choice === undefined ? (
          option.value
        ) : (
          <ChoiceLabel choice={choice} />
        );
      }}
    />
  );
}

function ChoiceLabel({ choice: { name, side, run } }: { choice: Choice }) {
  const isRun = side === run.id;
  return (
    <span>
      <span className="pl-mono">{isRun ? shortId(name) : name}</span>{' '}
      <span className={classes.quiet}>
        {[
          run.suite,
          isRun ? TRIGGER_LABELS[run.trigger] : undefined,
          name === run.branch ? side : run.branch,
        ]
          .filter(Boolean)
          .join(', ')}
        , <TimeAgo at={run.created_at} />
      </span>
    </span>
  );
}
