/** A choice among a few visible values; a group of radio buttons for screen readers. */
import { SegmentedControl } from '@mantine/core';
import { useId } from 'react';

import classes from './filter-bar.module.css';

export interface SegmentsProps<T extends string> {
  label: string;
  value: T;
  options: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}

export function Segments<T extends string>({
  label,
  value,
  options,
  onChange,
}: SegmentsProps<T>) {
  const id = useId();
  return (
    <div className={classes.segments}>
      <div id={id} className={classes.segmentsLabel}>
        {label}
      </div>
      <SegmentedControl
        aria-labelledby={id}
        size="sm"
        value={value}
        data={options.map((option) => ({ ...option }))}
        onChange={(next) => {
          const chosen = options.find((option) => option.value === next);
          if (chosen !== undefined) onChange(chosen.value);
        }}
      />
    </div>
  );
}
