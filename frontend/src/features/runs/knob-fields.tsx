/**
 * The fields of workload knobs. Those marked `demonstration` distort the measurement on purpose and are set apart, in
 * words.
 */
import { Alert, NativeSelect, NumberInput, Stack } from '@mantine/core';

import type { Knob, RunEstimate } from '../../api/types';
import { DEMONSTRATION } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { Status } from '../../ui/status';
import classes from './runs.module.css';

export type KnobValues = Readonly<Record<string, number | string>>;

/** Returns the knobs that differ from their default. The others are not sent, or the run would be a demonstration. */
export function changedKnobs(
  knobs: readonly Knob[],
  values: KnobValues,
): Record<string, number | string> {
  const changed: Record<string, number | string> = {};
  for (const knob of knobs) {
    const value = values[knob.name];
    if (value !== undefined && value !== '' && value !== knob.default)
      changed[knob.name] = value;
  }
  return changed;
}

export interface KnobFieldsProps {
  knobs: readonly Knob[];
  values: KnobValues;
  /** The value from which a demonstration is visible, by target. */
  slowdowns: RunEstimate['slowdowns'];
  onChange: (values: KnobValues) => void;
}

export function KnobFields({
  knobs,
  values,
  slowdowns,
  onChange,
}: KnobFieldsProps) {
  const ordinary = knobs.filter((knob) => !knob.demonstration);
  const demonstration = knobs.filter((knob) => knob.demonstration);
  const fields = (some: readonly Knob[]) => (
    <Stack gap="sm">
      {some.map((knob) => (
        <KnobField
          key={knob.name}
          knob={knob}
          value={values[knob.name] ?? knob.default}
          onChange={(value) => onChange({ ...values, [knob.name]: value })}
        />
      ))}
    </Stack>
  );
  const active = Object.keys(changedKnobs(demonstration, values)).length > 0;
  return (
    <>
      {ordinary.length > 0 && (
        <Panel title="Knobs" note="Options of the workload.">
          {fields(ordinary)}
        </Panel>
      )}
      {demonstration.length > 0 && (
        <Panel
          title="Demonstration knobs"
          actions={<Status look={DEMONSTRATION} />}
          note="They falsify measurements on purpose, to show what an alert looks like."
        >
          {fields(demonstration)}
          {slowdowns.length > 0 && (
            <div role="status" aria-label="Visible from">
              <ul className={classes.slowdowns}>
                {slowdowns.map((slowdown) => (
                  <li key={`${slowdown.knob} ${slowdown.target_id}`}>
                    {slowdown.words}.
                  </li>
                ))}
              </ul>
            </div>
          )}
          {active && (
            <Alert variant="outline" color="grape" mt="sm" role="status">
              This run and its alerts will be marked “demonstration”.
            </Alert>
          )}
        </Panel>
      )}
    </>
  );
}

interface KnobFieldProps {
  knob: Knob;
  value: number | string;
  onChange: (value: number | string) => void;
}

function KnobField({ knob, value, onChange }: KnobFieldProps) {
  const label = `${knob.name} (default ${knob.default})`;
  if (knob.kind === 'enum') {
    return (
      <NativeSelect
        label={label}
        description={knob.description}
        value={String(value)}
        maw={420}
        data={knob.values ?? []}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <NumberInput
      label={label}
      description={knob.description}
      value={value}
      maw={420}
      allowDecimal={false}
      {...(knob.minimum === null || knob.minimum === undefined
        ? {}
        : { min: knob.minimum })}
      {...(knob.maximum === null || knob.maximum === undefined
        ? {}
        : { max: knob.maximum })}
      onChange={(next) => onChange(next === '' ? '' : Number(next))}
    />
  );
}
