/** Who did what, newest first. */
import type { AlertEvent } from '../../api/types';
import { formatDate } from '../../lib/times';
import { ALERT_STATES } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { Timeline } from '../../ui/timeline';

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

function sentence({
  action,
  from_state: from,
  to_state: to,
}: AlertEvent): string {
  const plain = DONE[action] ?? action.replaceAll('_', ' ');
  if (to === null || to === from) return plain;
  return `${plain}: ${from === null ? '' : `${ALERT_STATES[from].word} → `}${ALERT_STATES[to].word}`;
}

/** A due date is kept as an instant. */
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
        <p style={{ margin: 0, color: 'var(--pl-muted)' }}>
          Nothing has happened yet.
        </p>
      ) : (
        <Timeline
          label="History"
          moments={newestFirst.map((event) => ({
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
