/**
 * Shows why a job is undecided: each cause once, with every case that it concerns and what to do next.
 * The sentences and the number of launches are the server's.
 */
import type { Reason, Run } from '../../api/types';
import { formatInteger } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { Panel } from '../../ui/panel';
import classes from './runs.module.css';

/** Number of cases of a cause that are shown; further ones are folded. */
const OPEN_CASES = 3;

export function Reasons({
  run,
  reasons,
}: {
  run: Run;
  reasons: readonly Reason[];
}) {
  const undecided = reasons.filter(({ verdict }) => verdict === 'inconclusive');
  if (undecided.length === 0) return null;
  return (
    <Panel title="Why it is undecided">
      <ul className={classes.reasons} aria-label="Why it is undecided">
        {undecided.map((reason) => (
          <li key={`${reason.kind}|${reason.text}`}>
            <Cause reason={reason} />
            {reason.next_step !== null && (
              <p className={classes.next}>{reason.next_step}</p>
            )}
            {reason.launches !== null && (
              <AppLink
                to="/runs/new"
                search={{
                  suite: run.suite,
                  repeat: run.id,
                  launches: reason.launches,
                }}
              >
                Repeat with {formatInteger(reason.launches)} launches
              </AppLink>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Cause({ reason: { cause, text, cases } }: { reason: Reason }) {
  if (cause === '' || cases.length === 0) return <>{text}</>;
  const list = (
    <ul aria-label="Cases">
      {cases.map((name) => (
        <li key={name}>{name}</li>
      ))}
    </ul>
  );
  return (
    <>
      {cause}
      {cases.length <= OPEN_CASES ? (
        list
      ) : (
        <details>
          <summary>{formatInteger(cases.length)} cases</summary>
          {list}
        </details>
      )}
    </>
  );
}
