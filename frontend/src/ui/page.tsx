/** The frame of a page: document title, breadcrumb, heading, actions. One h1 per page. */
import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

import { ExplainedHeading } from './explained-heading';
import { Identifier } from './identifier';
import classes from './layout.module.css';

export interface PageProps {
  title: string;
  heading?: ReactNode;
  /** The state of the object that the page shows; always visible. */
  lead?: ReactNode;
  /** The purpose of the page, behind an (i). */
  about?: string;
  crumb?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({
  title,
  heading,
  lead,
  about,
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
          <ExplainedHeading title={title} about={about}>
            <Title order={1}>{heading ?? <Identifier name={title} />}</Title>
          </ExplainedHeading>
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
