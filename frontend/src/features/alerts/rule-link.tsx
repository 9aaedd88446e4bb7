/** Links to the rule behind an alert: to its page if it is stored, else to the list of shipped rules. */
import type { AlertDetail } from '../../api/types';
import { AppLink } from '../../ui/app-link';

export function RuleLink({ alert }: { alert: AlertDetail }) {
  const { rule_id: ruleId, rule, suite } = alert;
  if (ruleId !== null)
    return (
      <AppLink to="/rules/$ruleId" params={{ ruleId }}>
        {rule.name}
      </AppLink>
    );
  if (!alert.can_be_muted) return <span className="pl-mono">{rule.name}</span>;
  return (
    <AppLink to="/rules" search={{ shipped: `${suite}/${rule.name}` }}>
      {rule.name}
    </AppLink>
  );
}
