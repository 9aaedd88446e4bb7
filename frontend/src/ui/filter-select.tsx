/** A filter bound to a URL value; clearing it removes the value. */
import { NativeSelect } from '@mantine/core';

export interface FilterSelectProps {
  label: string;
  value: string | undefined;
  /** Label of "no filter"; absent if a value must be chosen. */
  all?: string;
  /** Undefined while they are loaded: the value's name is not known yet. */
  options: readonly { value: string; label: string }[] | undefined;
  maw?: number;
  onChange: (value: string | undefined) => void;
}

export function FilterSelect({
  label,
  value,
  all,
  options,
  maw,
  onChange,
}: FilterSelectProps) {
  const known =
    value === undefined ||
    options?.some((option) => option.value === value) === true;
  return (
    <NativeSelect
      label={label}
      size="sm"
      {...(maw === undefined ? {} : { maw })}
      value={value ?? ''}
      onChange={(event) =>
        onChange(
          event.currentTarget.value === ''
            ? undefined
            : event.currentTarget.value,
        )
      }
    >
      {all !== undefined && <option value="">{all}</option>}
      {!known && (
        <option value={value}>{options === undefined ? '…' : value}</option>
      )}
      {options?.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </NativeSelect>
  );
}
