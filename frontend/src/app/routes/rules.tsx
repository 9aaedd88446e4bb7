/** /rules, /rules/new and /rules/$ruleId */
import { getRouteApi } from '@tanstack/react-router';

import { compact } from '../../lib/search-values';
import { NewRulePage } from '../../features/rules/new-rule-page';
import { RulePage } from '../../features/rules/rule-page';
import { RulesPage } from '../../features/rules/rules-page';

const list = getRouteApi('/app/rules');
const newRule = getRouteApi('/app/rules/new');
const detail = getRouteApi('/app/rules/$ruleId');

export function RulesRoute() {
  const navigate = list.useNavigate();
  return (
    <RulesPage
      search={compact(list.useSearch())}
      onSearch={(search) => void navigate({ search })}
    />
  );
}

export function NewRuleRoute() {
  const navigate = newRule.useNavigate();
  return (
    <NewRulePage
      search={compact(newRule.useSearch())}
      onSaved={({ id }) =>
        void navigate({ to: '/rules/$ruleId', params: { ruleId: id } })
      }
    />
  );
}

export function RuleRoute() {
  const navigate = detail.useNavigate();
  const { ruleId } = detail.useParams();
  return (
    <RulePage
      key={ruleId}
      ruleId={ruleId}
      onDeleted={() => void navigate({ to: '/rules' })}
    />
  );
}
