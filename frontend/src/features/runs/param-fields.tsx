/** Selects the values of each param to measure: one chip per declared value; none chosen means all. */
import { Alert, Chip, Group, Stack } from '@mantine/core';

import { formatParam } from '../../lib/params';
import { Icon } from '../../ui/icon';
import { Panel } from '../../ui/panel';
import type { Draft, ParamChoice } from './run-draft';

export interface ParamFieldsProps {
  choices: readonly ParamChoice[];
  /** Sentences about values that some of the chosen benchmarks do not declare. */
  conflicts: readonly string[];
  params: Draft['params'];
  onChange: (params: Draft['params']) => void;
}

export function ParamFields({
  choices,
  conflicts,
  params,
  onChange,
}: ParamFieldsProps) {
  // A param with one value leaves nothing to choose.
  const several = choices.filter((choice) => choice.choices.length > 1);
  if (several.length === 0) return null;
  return (
    <Panel
      title="Params"
      note="Select none to measure all declared values of a param."
    >
      <Stack gap="md">
        {several.map((choice) => (
          <ParamField
            key={choice.name}
            choice={choice}
            chosen={params[choice.name] ?? []}
            onChange={(values) =>
              onChange({ ...params, [choice.name]: values })
            }
          />
        ))}
      </Stack>
      {conflicts.length > 0 && (
        <Alert
          color="red"
          variant="outline"
          role="alert"
          mt="sm"
          icon={<Icon name="warning" />}
        >
          {conflicts.map((words) => (
            <div key={words}>{words}</div>
          ))}
        </Alert>
      )}
    </Panel>
  );
}

interface ParamFieldProps {
  choice: ParamChoice;
  chosen: Draft['params'][string];
  onChange: (values: Draft['params'][string]) => void;
}

function ParamField({ choice, chosen, onChange }: ParamFieldProps) {
  const { name, unit, description, choices } = choice;
  const values = new Map(choices.map(({ value }) => [String(value), value]));
  return (
    <fieldset style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
      <legend style={{ padding: 0, marginBottom: '0.35rem', fontWeight: 550 }}>
        {name}
        <span style={{ color: 'var(--pl-muted)', fontWeight: 400 }}>
          {unit !== null && ` in ${unit}`}
          {description !== null && ` · ${description}`}
        </span>
      </legend>
      <Chip.Group
        multiple
        value={chosen.map(String)}
        onChange={(next) =>
          onChange(
            [...values]
              .filter(([key]) => next.includes(key))
              .map(([, value]) => value),
          )
        }
      >
        <Group gap="xs">
          {choices.map(({ value, missing }) => (
            <Chip
              key={value}
              value={String(value)}
              size="sm"
              variant="outline"
              title={
                missing.length > 0
                  ? `Not taken by ${missing.join(', ')}`
                  : undefined
              }
            >
              {formatParam(value)}
            </Chip>
          ))}
          <span style={{ color: 'var(--pl-muted)', fontSize: '0.875rem' }}>
            {chosen.length === 0
              ? `all ${choices.length}`
              : `${chosen.length} of ${choices.length}`}
          </span>
        </Group>
      </Chip.Group>
    </fieldset>
  );
}
