/** The row of filters above a list; a landmark of its own so that it can be jumped to. */
import type { ReactNode } from 'react';

import classes from './filter-bar.module.css';

export function FilterBar({ children, label = 'Filters' }: { children: ReactNode; label?: string }) {
  return (
    <search className={classes.bar} aria-label={label}>
      {children}
    </search>
  );
}
