/**
 * Configuration errors of the selected targets that a run may suppress, one by one. Shown only where a target
 * has one, so that suppressing does not become a habit.
 */
import { Checkbox, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { targetsQuery } from '../../api/targets';
import type { ConfigurationError, Target } from '../../api/types';
import { Panel } from '../../ui/panel';

/** Returns the errors of the selected targets, or of all targets if none is selected, each name once. */
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
      title="Configuration errors"
      about="A configuration error voids the jobs of its target unless it is suppressed here. The verdict then says so."
    >
      <Checkbox.Group
        label="Errors to suppress"
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
