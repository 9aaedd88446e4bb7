/** A filter by day: a day in the visitor's zone, kept in the address as the instant at which it begins. */
import { TextInput } from '@mantine/core';

export function DayFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (instant: string | undefined) => void;
}) {
  return (
    <TextInput
      label={label}
      type="date"
      value={value === undefined ? '' : dayOf(value)}
      onChange={(event) => {
        const begins = new Date(`${event.currentTarget.value}T00:00`);
        onChange(
          Number.isNaN(begins.getTime()) ? undefined : begins.toISOString(),
        );
      }}
    />
  );
}

function dayOf(instant: string): string {
  const at = new Date(instant);
  const parts = [at.getFullYear(), at.getMonth() + 1, at.getDate()];
  return parts.map((part) => String(part).padStart(2, '0')).join('-');
}
