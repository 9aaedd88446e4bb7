/** Shows the cause of an alert: its reason, the possible commits, and the likely culprit. */
import type { AlertDetail, Culprit } from '../../api/types';
import { formatInterval, formatRatio } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { ALERT_CAUSES } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import classes from './alerts.module.css';

export function BlamePanel({ alert }: { alert: AlertDetail }) {
  const {
    cause,
    cause_text: because,
    base_commit: base,
    head_commit: head,
    culprit,
  } = alert;
  if (cause === null && head === null && culprit === null) return null;
  return (
    <Panel title="Cause">
      {cause !== null && (
        <p className={classes.cause}>
          <Status look={ALERT_CAUSES[cause]} />{' '}
          {because !== null && <>because {because}.</>}
        </p>
      )}
      {base !== null && head !== null && (
        <p className={classes.range}>
          After <span className="pl-mono">{base.slice(0, 10)}</span>, up to and
          including <span className="pl-mono">{head.slice(0, 10)}</span>.{' '}
          <AppLink
            to="/compare"
            search={{
              base,
              head,
              suite: alert.suite,
              target: alert.target_id ?? undefined,
            }}
          >
            Compare revisions
          </AppLink>
        </p>
      )}
      {culprit !== null && <CulpritView culprit={culprit} />}
    </Panel>
  );
}

function CulpritView({ culprit }: { culprit: Culprit }) {
  return (
    <article className={classes.culprit} aria-label="Likely culprit">
      <div className={classes.when}>Likely culprit</div>
      <div className={classes.subject}>{culprit.subject}</div>
      <div>
        <span className="pl-mono">{culprit.commit.slice(0, 12)}</span> by{' '}
        {culprit.author}, <TimeAgo at={culprit.at} />
      </div>
      {culprit.ratio !== null && (
        <div className="pl-num">
          Time ÷ base: {formatRatio(culprit.ratio)}{' '}
          <span className={classes.when}>
            ({formatInterval(culprit.lower, culprit.upper)})
          </span>
        </div>
      )}
    </article>
  );
}
