/** Lists what people and the system did with an alert, newest first. */
import type { AlertEvent } from '../../api/types';
import { formatDate } from '../../lib/times';
import { ALERT_STATES } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { Timeline } from '../../ui/timeline';

/** Labels of the system's actions; actions of people keep their names. */
const DONE: Readonly<Record<string, string>> = {
  raise: 'suspected',
  confirm: 'confirmed',
  refute: 'not confirmed',
  undecide: 'inconclusive',
  retry: 'seen again',
  recover: 'effect gone',
  verify: 'fix verified by later measurements',
  relapse: 'came back: reopened',
  vanish: 'vanished: no such change in more measurements',
  reappear: 'seen again',
  reopen: 'reopened',
  due: 'due date set',
  muted: 'muted',
  silenced: 'nobody told: its rule is muted',
  notified: 'people told',
  issue: 'issue linked',
  ab_undecided: 'A/B run inconclusive',
  bisect_started: 'bisection started',
  bisect_ended: 'bisection ended',
  culprit_found: 'commit found',
  code_cleared: 'code ruled out',
  proven: 'proven by an A/B run',
  seen_as_expected: 'seen again, as expected',
};

function sentence({
  action,
  from_state: from,
  to_state: to,
}: AlertEvent): string {
  const plain = DONE[action] ?? action.replaceAll('_', ' ');
  if (to === null || to === from) return plain;
  if (plain === ALERT_STATES[to].word) return plain;
  return `${plain}: ${from === null ? '' : `${ALERT_STATES[from].word} → `}${ALERT_STATES[to].word}`;
}

/** Returns the note of an event. The note of a due date is an instant, which is shown as a day. */
function noteOf({ action, note }: AlertEvent): string | null {
  return action === 'due' && note !== null && !Number.isNaN(Date.parse(note))
    ? formatDate(note)
    : note;
}

export function AlertHistory({ events }: { events: readonly AlertEvent[] }) {
  const newestFirst = events
    .toReversed()
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return (
    <Panel title="History">
      {events.length === 0 ? (
        <p style={{ margin: 0, color: 'var(--pl-muted)' }}>No events yet.</p>
      ) : (
        <Timeline
          label="History"
          entries={newestFirst.map((event) => ({
            key: event.id,
            at: event.at,
            actor: event.actor,
            words: sentence(event),
            note: noteOf(event),
          }))}
        />
      )}
    </Panel>
  );
}
