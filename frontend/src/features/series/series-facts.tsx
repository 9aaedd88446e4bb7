/**
 * Shows what decides about a series: its rule and why it applies, the rule about its arm, its noise floor, and
 * its environment.
 */
import { useQuery } from '@tanstack/react-query';

import { appliedRuleQuery, ruleQuery } from '../../api/rules';
import type { AppliedRule, NoiseBand, SeriesPage } from '../../api/types';
import { rulePatternsText } from '../../lib/rule-patterns';
import { formatValue } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { Facts, Panel } from '../../ui/panel';
import { Status, type Badge } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import classes from './series.module.css';

export function SeriesFacts({ page }: { page: SeriesPage }) {
  return (
    <>
      <RulePanel page={page} />
      {!page.series.imported && <ArmRulePanel page={page} />}
      <NoisePanel page={page} />
      <EnvironmentPanel page={page} />
    </>
  );
}

const MODES: Readonly<Record<'active' | 'shadow' | 'off', Badge>> = {
  active: { tone: 'good', icon: 'check', word: 'active' },
  shadow: { tone: 'quiet', icon: 'eye', word: 'shadow' },
  off: { tone: 'quiet', icon: 'muted', word: 'off' },
};

const BASIS: Readonly<Record<NoiseBand['basis'], string>> = {
  a_a: 'measured by an A/A job',
  history: 'estimated from its own points',
};

function RulePanel({ page: { rule, series } }: { page: SeriesPage }) {
  if (rule === null) return null;
  return (
    <Panel title="Rule" actions={<Status look={MODES[rule.mode]} />}>
      <p className={classes.first}>{rule.text}</p>
      {rule.muted !== null && (
        <p className={classes.first}>Muted: {rule.muted}</p>
      )}
      <Facts
        items={[
          ['Name', <RuleName key="name" rule={rule} />],
          [
            'Alerts beyond',
            rule.limit === null ? '–' : formatValue(rule.limit, series.unit),
          ],
        ]}
      />
      {rule.rule_id === null ? (
        <p className={classes.why}>No other rule matches this series.</p>
      ) : (
        <RuleReason ruleId={rule.rule_id} />
      )}
      <p className={classes.ways}>
        <AppLink
          to="/rules/new"
          search={{
            suite: series.suite,
            benchmark: series.benchmark,
            arm: series.arm,
            metric: series.metric,
            target: series.target_name,
          }}
        >
          New rule for this series
        </AppLink>
      </p>
    </Panel>
  );
}

function RuleName({
  rule,
}: {
  rule: Pick<AppliedRule, 'rule_id' | 'name' | 'version'>;
}) {
  if (rule.rule_id === null) return rule.name;
  return (
    <>
      <AppLink to="/rules/$ruleId" params={{ ruleId: rule.rule_id }}>
        {rule.name}
      </AppLink>
      , version {rule.version}
    </>
  );
}

/** Shows the rule that compares an arm with its reference; the rule about its history is another one. */
function ArmRulePanel({ page: { series } }: { page: SeriesPage }) {
  const { suite, benchmark, arm, metric, target_name: target } = series;
  const { data: rule } = useQuery(
    appliedRuleQuery('arm_slower', { suite, benchmark, arm, metric, target }),
  );
  if (rule === undefined) return null;
  return (
    <Panel title="Rule about arms" actions={<Status look={MODES[rule.mode]} />}>
      <p className={classes.first}>{rule.text}</p>
      {rule.muted !== null && (
        <p className={classes.first}>Muted: {rule.muted}</p>
      )}
      <Facts
        items={[
          ['Name', <RuleName key="name" rule={rule} />],
          ['Raises', `an alert when ${arm} is slower than its reference`],
        ]}
      />
    </Panel>
  );
}

/** Shows why the rule applies: the server chose it by the rule's patterns. */
function RuleReason({ ruleId }: { ruleId: string }) {
  const rule = useQuery(ruleQuery(ruleId));
  if (rule.data === undefined) return null;
  const about = rulePatternsText(rule.data);
  return (
    <p className={classes.why}>
      The most specific matching rule decides. This one covers {about}. A rule
      that names more of this series would replace it.
    </p>
  );
}

function NoisePanel({ page: { noise, series } }: { page: SeriesPage }) {
  if (noise === null && series.imported) return null;
  return (
    <Panel title="Noise floor">
      {noise === null ? (
        <p className={classes.first}>
          Not measured yet. An A/A run (the same revision on both sides)
          measures it.
        </p>
      ) : (
        <p className={classes.first}>
          {noise.words}, {BASIS[noise.basis]} <TimeAgo at={noise.measured_at} />
          .
        </p>
      )}
    </Panel>
  );
}

function EnvironmentPanel({ page: { environments } }: { page: SeriesPage }) {
  const present = environments.at(-1);
  if (present === undefined) return null;
  const factors = Object.entries(present.factors).toSorted(([a], [b]) =>
    a.localeCompare(b),
  );
  return (
    <Panel
      title="Environment"
      note={present.change ?? 'The same since the first point.'}
    >
      {factors.length === 0 ? (
        <p className={classes.first}>Factors not kept.</p>
      ) : (
        <Facts
          items={factors.map(([name, value]) => [
            name.replaceAll('_', ' '),
            value === null ? 'unknown' : String(value),
          ])}
        />
      )}
    </Panel>
  );
}
