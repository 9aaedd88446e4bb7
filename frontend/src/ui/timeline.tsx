/** Lists events, newest first. */
import type { ReactNode } from 'react';

import { TimeAgo } from './time-ago';
import classes from './timeline.module.css';

export interface TimelineEntry {
  key: string | number;
  at: string;
  actor: string;
  words: ReactNode;
  /** A person's note as text, or an element such as folded details. */
  note?: ReactNode;
}

export function Timeline({
  label,
  entries,
}: {
  label: string;
  entries: readonly TimelineEntry[];
}) {
  return (
    <ol className={classes.list} aria-label={label}>
      {entries.map(({ key, at, actor, words, note }) => (
        <li key={key}>
          <div>{words}</div>
          <div className={classes.when}>
            {actor}, <TimeAgo at={at} />
          </div>
          {typeof note === 'string' ? (
            <p className={classes.note}>{note}</p>
          ) : (
            note !== undefined &&
            note !== null && <div className={classes.note}>{note}</div>
          )}
        </li>
      ))}
    </ol>
  );
}
