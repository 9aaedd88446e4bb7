/** Who did what, newest first. */
import type { AlertEvent } from '../../api/types';
import { formatDate } from '../../lib/times';
import { ALERT_STATES } from '../../ui/looks';
import { Panel } from '../../ui/panel';
import { TimeAgo } from '../../ui/time-ago';
import classes from './alerts.module.css';

/** What the system did, in words; what people did is named as they named it. */
const DONE: Readonly<Record<string, string>> = {
  raise: 'suspected',
  confirm: 'confirmed',
  refute: 'not confirmed',
  undecide: 'could not be decided',
  retry: 'seen again',
  recover: 'the effect is gone',
  verify: 'verified: later measurements show that it is fixed',
  relapse: 'it came back: reopened',
  vanish: 'vanished: more measurements show no such change',
  reappear: 'it is there again',
  reopen: 'reopened',
  due: 'due date set',
  issue: 'issue linked',
  ab_undecided: 'the A/B run could not decide',
  bisect_started: 'search for the commit started',
  bisect_ended: 'search for the commit ended',
  culprit_found: 'the commit was found',
  code_cleared: 'not the code',
  proven: 'proven by old and new revision side by side',
  seen_as_expected: 'seen again, as expected',
};

function sentence({ action, from_state: from, to_state: to }: AlertEvent): string {
  const plain = DONE[action] ?? action.replaceAll('_', ' ');
  if (to === null || to === from) return plain;
  return `${plain}: ${from === null ? '' : `${ALERT_STATES[from].word} → `}${ALERT_STATES[to].word}`;
}

/** A due date is kept as an instant. */
function noteOf({ action, note }: AlertEvent): string | null {
  return action === 'due' && note !== null && !Number.isNaN(Date.parse(note)) ? formatDate(note) : note;
}

export function AlertHistory({ events }: { events: readonly AlertEvent[] }) {
  const newestFirst = events.toReversed().toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
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
              {event.note !== null && <p className={classes.note}>{noteOf(event)}</p>}
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
