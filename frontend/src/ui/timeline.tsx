/** What happened to one thing, the newest first. */
import type { ReactNode } from 'react';

import { TimeAgo } from './time-ago';
import classes from './timeline.module.css';

export interface Moment {
  key: string | number;
  at: string;
  actor: string;
  words: ReactNode;
  /** What somebody wrote, or what unfolds. */
  note?: ReactNode;
}

export function Timeline({
  label,
  moments,
}: {
  label: string;
  moments: readonly Moment[];
}) {
  return (
    <ol className={classes.list} aria-label={label}>
      {moments.map(({ key, at, actor, words, note }) => (
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
