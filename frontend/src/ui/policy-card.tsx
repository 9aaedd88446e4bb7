/**
 * Shows usage policy advice: the value from which the arm wins on a target, the warm-up rounds, and the values
 * in force. The server writes every sentence.
 */
import { useQuery } from '@tanstack/react-query';

import { policiesQuery, type PolicyFilters } from '../api/policies';
import type { PolicyAdvice } from '../api/types';
import { paramsLabel } from '../lib/params';
import { AppLink } from './app-link';
import { Panel } from './panel';
import classes from './policy-card.module.css';
import { policyBadge } from './policy-looks';
import { Status } from './status';
import { TimeAgo } from './time-ago';
import { TargetName } from './target-name';

/** Returns the key of one advice in a list. */
export function adviceKey({
  suite,
  policy,
  target_id: target,
  params,
}: PolicyAdvice): string {
  return [suite, policy, target, paramsLabel(params)].join('|');
}

export function PolicyCard({ advice }: { advice: PolicyAdvice }) {
  const { params, cold } = advice;
  return (
    <article
      className={classes.card}
      aria-label={`${advice.policy} on ${advice.target_name}`}
    >
      <div className={classes.head}>
        <span>
          <span className="pl-mono">{advice.policy}</span> of {advice.suite} on{' '}
          <TargetName id={advice.target_id} name={advice.target_name} />
          {Object.keys(params).length > 0 && <>, {paramsLabel(params)}</>}
        </span>
        <Status look={policyBadge(advice)} title={advice.why} />
      </div>
      <p className={classes.words}>{advice.words}</p>
      <p className={classes.sub}>
        {advice.why.slice(0, 1).toUpperCase() + advice.why.slice(1)}
        {advice.why.endsWith('.') ? '' : '.'}
        {cold !== null && <> When cold: {cold.words}.</>}
      </p>
      <p className={classes.sub}>
        Measured <TimeAgo at={advice.measured_at} /> at{' '}
        <span className="pl-mono">{advice.commit.slice(0, 10)}</span>,{' '}
        <AppLink
          to="/runs/$runId"
          params={{ runId: advice.run_id }}
          search={{ job: advice.job_id }}
        >
          open run
        </AppLink>
        .
      </p>
    </article>
  );
}

export interface PoliciesPanelProps {
  filters: PolicyFilters;
  /** Shows only policies of this benchmark. */
  benchmark?: string;
  /** Title of the panel. */
  title?: string;
}

/** Shows the advice, or nothing if there is none, because most benchmarks have no policy. */
export function PoliciesPanel({
  filters,
  benchmark,
  title = 'Usage policy',
}: PoliciesPanelProps) {
  const policies = useQuery(policiesQuery(filters));
  const all = policies.data?.items ?? [];
  const items =
    benchmark === undefined
      ? all
      : all.filter((advice) => advice.benchmark === benchmark);
  if (items.length === 0) return null;
  return (
    <Panel
      title={title}
      actions={
        <AppLink to="/policies" search={filters}>
          Show history
        </AppLink>
      }
    >
      <div className={classes.cards}>
        {items.map((advice) => (
          <PolicyCard key={adviceKey(advice)} advice={advice} />
        ))}
      </div>
    </Panel>
  );
}
