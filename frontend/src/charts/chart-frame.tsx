/**
 * The frame of a chart: a heading, a sentence that says what the chart shows, and its data as a table.
 *
 * Every chart has a sentence and a table, so that it can be read without seeing it.
 */
import { Title } from '@mantine/core';
import { useId, useState, type ReactNode } from 'react';

import classes from './charts.module.css';

export interface ChartFrameProps {
  title: string;
  summary: string;
  legend?: ReactNode;
  chart: ReactNode;
  /** Controls of the chart; they are outside the picture, so that the keyboard reaches them. */
  controls?: ReactNode;
  table: ReactNode;
  /** Label of the control that shows the table; without it, the table is always open. */
  tableToggle?: string;
  /** Renders the table only when it is opened, for long tables. */
  tableOnDemand?: boolean;
}

export function ChartFrame(props: ChartFrameProps) {
  const {
    title,
    summary,
    legend,
    chart,
    controls,
    table,
    tableToggle,
    tableOnDemand = false,
  } = props;
  const id = useId();
  const [shown, setShown] = useState(!tableOnDemand);
  return (
    <figure className={classes.frame} aria-labelledby={id}>
      <Title order={3} id={id}>
        {title}
      </Title>
      <p className={classes.summary}>{summary}</p>
      {legend}
      <div role="img" aria-label={`${title}. ${summary}`}>
        {chart}
      </div>
      {controls}
      {tableToggle === undefined ? (
        table
      ) : (
        <details
          className={classes.details}
          onToggle={(event) =>
            tableOnDemand && setShown(event.currentTarget.open)
          }
        >
          <summary>{tableToggle}</summary>
          {shown && table}
        </details>
      )}
    </figure>
  );
}
