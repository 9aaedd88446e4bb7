/**
 * The frame of every chart: a heading, a sentence that says what the chart shows, and its data as a table.
 *
 * No chart is shown without sentence and table. The frame knows nothing of the domain.
 */
import { Title } from '@mantine/core';
import { useId, useState, type ReactNode } from 'react';

import classes from './charts.module.css';

export interface ChartFrameProps {
  title: string;
  summary: string;
  legend?: ReactNode;
  chart: ReactNode;
  /** Controls of the chart: they stand outside the picture, so that they can be reached. */
  controls?: ReactNode;
  table: ReactNode;
  /** Word for the control that shows the table. Open from the start when absent. */
  tableToggle?: string;
  /** Draws the table only once it is shown: for long ones. */
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
