/**
 * Configuration errors of the chosen targets, to be measured in spite of, one by one and by name. Offered
 * only where a target has one: nobody suppresses by habit.
 */
import { Checkbox, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { targetsQuery } from '../../api/targets';
import type { ConfigurationError, Target } from '../../api/types';
import { Panel } from '../../ui/panel';

/** Of the chosen targets; none chosen: of every one. Each name once. */
export function errorsOf(
  targets: readonly Target[],
  chosen: readonly string[],
): ConfigurationError[] {
  const chosenTargets = targets.filter(
    ({ id }) => chosen.length === 0 || chosen.includes(id),
  );
  const byName = new Map(
    chosenTargets.flatMap(({ configuration }) =>
      configuration.map((error) => [error.name, error] as const),
    ),
  );
  return [...byName.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}

export interface SuppressFieldsProps {
  targets: readonly string[];
  value: string[];
  onChange: (names: string[]) => void;
}

export function SuppressFields({
  targets,
  value,
  onChange,
}: SuppressFieldsProps) {
  const errors = errorsOf(useQuery(targetsQuery).data?.items ?? [], targets);
  if (errors.length === 0) return null;
  return (
    <Panel
      title="In spite of"
      note="Each voids the jobs of a target that has it, unless it is suppressed here; the verdict says so."
    >
      <Checkbox.Group
        label="Configuration errors to suppress"
        value={value}
        onChange={onChange}
      >
        <Stack gap="xs" mt="xs">
          {errors.map(({ name, text }) => (
            <Checkbox key={name} value={name} label={name} description={text} />
          ))}
        </Stack>
      </Checkbox.Group>
    </Panel>
  );
}
