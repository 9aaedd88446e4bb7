/** The fields of a rule. A refusal is shown at its field. */
import {
  NumberInput,
  SimpleGrid,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { suitesQuery } from '../../api/catalog';
import { targetsQuery } from '../../api/targets';
import { accountsQuery } from '../../api/session';
import type { RuleKind, RuleMode } from '../../api/types';
import { PATTERNS, type PatternName } from '../../lib/rule-patterns';
import { FilterSelect } from '../../ui/filter-select';
import { Panel } from '../../ui/panel';
import { Segments } from '../../ui/segments';
import type { RuleDraft } from './rule-draft';
import {
  DIRECTION_LABELS,
  hasEffect,
  hasPeriod,
  KIND_LABELS,
  MODE_BADGES,
  MODE_MEANING,
} from './rule-labels';
import { RULE_KINDS, RULE_MODES } from './rules-search';

export interface RuleFieldsProps {
  draft: RuleDraft;
  onChange: (part: Partial<RuleDraft>) => void;
  errors: Readonly<Record<string, string>>;
  /** True if the rule has a name already, which never changes because alerts refer to it. */
  named: boolean;
}

export function RuleFields(props: RuleFieldsProps) {
  return (
    <>
      <ScopeFields {...props} />
      <DecisionFields {...props} />
      <OwnershipFields {...props} />
    </>
  );
}

function refusal(
  errors: RuleFieldsProps['errors'],
  field: string,
): { error?: string } {
  const error = errors[field];
  return error === undefined ? {} : { error };
}

const PATTERN_LABELS: Record<PatternName, string> = {
  suite: 'Suite',
  benchmark: 'Benchmark',
  arm: 'Arm',
  metric: 'Metric',
  target: 'Target',
};

function useKnownNames(
  draft: RuleDraft,
): Record<PatternName, readonly string[]> {
  const suites = useQuery(suitesQuery).data?.items ?? [];
  const targets = useQuery(targetsQuery).data?.items ?? [];
  const chosenSuites = suites.filter(
    ({ name }) => draft.suite === '*' || name === draft.suite,
  );
  const benchmarks = chosenSuites.flatMap((suite) => suite.benchmarks);
  const chosenBenchmarks = benchmarks.filter(
    ({ name }) => draft.benchmark === '*' || name === draft.benchmark,
  );
  return {
    suite: suites.map(({ name }) => name),
    benchmark: [...new Set(benchmarks.map(({ name }) => name))],
    arm: [...new Set(chosenBenchmarks.flatMap(({ arms }) => arms))],
    metric: [
      ...new Set(
        chosenBenchmarks.flatMap(({ metrics }) =>
          metrics.map(({ name }) => name),
        ),
      ),
    ],
    target: targets.map(({ name }) => name),
  };
}

function ScopeFields({ draft, onChange, errors }: RuleFieldsProps) {
  const known = useKnownNames(draft);
  return (
    <Panel
      title="Scope"
      note="* matches any characters. Only the most specific matching rule decides."
    >
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
        {PATTERNS.map((name) => (
          <div key={name}>
            <TextInput
              label={PATTERN_LABELS[name]}
              value={draft[name]}
              maxLength={200}
              list={`rule-${name}`}
              autoComplete="off"
              spellCheck={false}
              {...refusal(errors, name)}
              onChange={(event) =>
                onChange({ [name]: event.currentTarget.value })
              }
            />
            <datalist id={`rule-${name}`}>
              {['*', ...known[name]].map((suggestion) => (
                <option key={suggestion} value={suggestion}>
                  {suggestion}
                </option>
              ))}
            </datalist>
          </div>
        ))}
      </SimpleGrid>
    </Panel>
  );
}

function DecisionFields({ draft, onChange, errors }: RuleFieldsProps) {
  return (
    <Panel title="When to alert">
      <Stack gap="md">
        <FilterSelect
          label="Watches"
          maw={420}
          value={draft.kind}
          options={RULE_KINDS.map((kind) => ({
            value: kind,
            label: KIND_LABELS[kind],
          }))}
          onChange={(kind) =>
            onChange({ kind: (kind ?? 'history') as RuleKind })
          }
        />
        {hasEffect(draft.kind) && (
          <>
            <NumberInput
              label="Minimum effect (%)"
              description={
                draft.kind === 'arm_slower'
                  ? 'Added to the margin in the suite’s manifest.'
                  : 'At least the noise floor of the targets.'
              }
              value={draft.percent}
              required
              min={0}
              max={1000}
              maw={420}
              suffix=" %"
              decimalScale={4}
              {...refusal(errors, 'min_effect')}
              onChange={(value) =>
                onChange({ percent: value === '' ? '' : Number(value) })
              }
            />
            <Segments
              label="Alert when it"
              value={draft.direction}
              options={(['worse', 'both'] as const).map((value) => ({
                value,
                label: DIRECTION_LABELS[value],
              }))}
              onChange={(direction) => onChange({ direction })}
            />
          </>
        )}
        {hasPeriod(draft.kind) && (
          <NumberInput
            label="Awaited every (hours)"
            description="An alert is raised when nothing new arrived for so long."
            value={draft.hours}
            required
            min={1}
            max={2160}
            maw={420}
            suffix=" h"
            {...refusal(errors, 'period_hours')}
            onChange={(value) =>
              onChange({ hours: value === '' ? '' : Number(value) })
            }
          />
        )}
        <div>
          <Segments<RuleMode>
            label="Mode"
            value={draft.mode}
            options={RULE_MODES.map((value) => ({
              value,
              label: MODE_BADGES[value].word,
            }))}
            onChange={(mode) => onChange({ mode })}
          />
          <p style={{ margin: '0.3rem 0 0', color: 'var(--pl-muted)' }}>
            {MODE_MEANING[draft.mode]}
          </p>
        </div>
      </Stack>
    </Panel>
  );
}

function OwnershipFields({ draft, onChange, errors, named }: RuleFieldsProps) {
  const accounts = useQuery(accountsQuery);
  return (
    <Panel title="Owner and description">
      <Stack gap="sm" maw={640}>
        {!named && (
          <TextInput
            label="Name"
            description="Lowercase letters, digits and dashes. Cannot be changed later."
            value={draft.name}
            required
            maxLength={64}
            {...refusal(errors, 'name')}
            onChange={(event) => onChange({ name: event.currentTarget.value })}
          />
        )}
        <FilterSelect
          label="Owner"
          all="Whoever saves the rule"
          value={draft.ownerId}
          options={(accounts.data?.items ?? []).map(({ id, name }) => ({
            value: id,
            label: name,
          }))}
          onChange={(ownerId) => onChange({ ownerId })}
        />
        <Textarea
          label="Description"
          description="Shown in alerts. Leave empty to generate it from the fields above."
          autosize
          minRows={2}
          maxLength={2000}
          value={draft.text}
          {...refusal(errors, 'text')}
          onChange={(event) => onChange({ text: event.currentTarget.value })}
        />
        <Textarea
          label="Comment on this version"
          description="Why it changes. Kept with the version."
          autosize
          minRows={1}
          maxLength={2000}
          value={draft.comment}
          {...refusal(errors, 'comment')}
          onChange={(event) => onChange({ comment: event.currentTarget.value })}
        />
      </Stack>
    </Panel>
  );
}
