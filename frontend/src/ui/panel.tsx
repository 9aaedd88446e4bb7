/** A titled section of a page. `flush` lets a table reach the panel's edges. */
import { Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';

import { ExplainedHeading } from './explained-heading';
import classes from './layout.module.css';

export interface PanelProps {
  title: string;
  /** Shown beside the title, but not part of it: the state of what the title names. */
  mark?: ReactNode;
  /** A sentence below the title that is always visible, such as the state of what the panel shows. */
  note?: ReactNode;
  /** Explains what the panel shows and how to read it; it is behind an (i). */
  about?: string;
  actions?: ReactNode;
  flush?: boolean;
  children: ReactNode;
}

export function Panel({
  title,
  mark,
  note,
  about,
  actions,
  flush = false,
  children,
}: PanelProps) {
  const id = useId();
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <div className={classes.panelHead}>
        <div>
          <ExplainedHeading title={title} about={about}>
            <Title order={2} id={id}>
              {title}
            </Title>
            {mark}
          </ExplainedHeading>
          {note !== undefined && <p className={classes.panelNote}>{note}</p>}
        </div>
        {actions}
      </div>
      <div className={flush ? classes.flush : classes.panelBody}>
        {children}
      </div>
    </section>
  );
}

export function TwoColumns({ children }: { children: ReactNode }) {
  return <div className={classes.twoUp}>{children}</div>;
}

/** Shows a main column with a narrower one beside it; they are stacked on small screens. */
export function MainAndAside({
  main,
  aside,
}: {
  main: ReactNode;
  aside: ReactNode;
}) {
  return (
    <div className={classes.split}>
      <div>{main}</div>
      <div>{aside}</div>
    </div>
  );
}

export function Facts({
  items,
}: {
  items: readonly (readonly [label: string, value: ReactNode])[];
}) {
  return (
    <dl className={classes.facts}>
      {items.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
