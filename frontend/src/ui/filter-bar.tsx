/** The row of filters above a list. It is a landmark, so that screen readers can jump to it. */
import type { ReactNode } from 'react';

import classes from './filter-bar.module.css';

export interface FilterBarProps {
  children: ReactNode;
  label?: string;
  /** Narrower fields, for a bar that has many. */
  dense?: boolean;
}

export function FilterBar({
  children,
  label = 'Filters',
  dense = false,
}: FilterBarProps) {
  return (
    <search
      className={dense ? `${classes.bar} ${classes.dense}` : classes.bar}
      aria-label={label}
    >
      {children}
    </search>
  );
}
