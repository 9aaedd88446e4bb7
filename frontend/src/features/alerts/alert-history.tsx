/** Who did what, newest first. */
import type { AlertEvent } from '../../api/types';
import { ALERT_STATES } from '../../ui/looks';
import { Panel } from '../../ui/panel';
import { TimeAgo } from '../../ui/time-ago';
import classes from './alerts.module.css';

function sentence({ action, from_state: from, to_state: to }: AlertEvent): string {
  const plain = action.replaceAll('_', ' ');
  if (to === null || to === from) return plain;
  return `${plain}: ${from === null ? '' : `${ALERT_STATES[from].word} → `}${ALERT_STATES[to].word}`;
}

export function AlertHistory({ events }: { events: readonly AlertEvent[] }) {
  const newestFirst = events.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return (
    <Panel title="History">
      {events.length === 0 ? (
        <p style={{ margin: 0, color: 'var(--pl-muted)' }}>Nothing has happened yet.</p>
      ) : (
        <ol className={classes.history}>
          {newestFirst.map((event) => (
            <li key={event.id}>
              <div>{sentence(event)}</div>
              <div className={classes.when}>
                {event.actor}, <TimeAgo at={event.at} />
              </div>
              {event.note !== null && <p className={classes.note}>{event.note}</p>}
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
