/** The frame of a page: document title, breadcrumb, heading, actions. One h1 per page. */
import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

import { Identifier } from './identifier';
import classes from './layout.module.css';

export interface PageProps {
  title: string;
  heading?: ReactNode;
  lead?: ReactNode;
  crumb?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({
  title,
  heading,
  lead,
  crumb,
  actions,
  children,
}: PageProps) {
  return (
    <>
      <title>{`${title} · Paceline`}</title>
      <header className={classes.head}>
        <div className={classes.headText}>
          {crumb !== undefined && <div className={classes.crumb}>{crumb}</div>}
          <Title order={1}>{heading ?? <Identifier name={title} />}</Title>
          {lead !== undefined && <div className={classes.lead}>{lead}</div>}
        </div>
        {actions !== undefined && (
          <div className={classes.actions}>{actions}</div>
        )}
      </header>
      {children}
    </>
  );
}
