/** Writing a new rule. It begins in shadow; what it is to decide about may come with the address. */
import { useQuery } from '@tanstack/react-query';

import { createRule } from '../../api/rules';
import { may, sessionQuery } from '../../api/session';
import type { RuleDetail } from '../../api/types';
import { AppLink } from '../../ui/app-link';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { NoPermission } from '../../ui/states';
import { freshDraft } from './rule-draft';
import { RuleForm } from './rule-form';
import type { NewRuleSearch } from './rules-search';

export interface NewRulePageProps {
  search: NewRuleSearch;
  onSaved: (rule: RuleDetail) => void;
}

export function NewRulePage({ search, onSaved }: NewRulePageProps) {
  const session = useQuery(sessionQuery);
  return (
    <Page
      title="Write a rule"
      crumb={<AppLink to="/rules">Rules</AppLink>}
      lead="Say what it decides about and from which effect on; try it on the past; then save it."
    >
      <QueryView query={session} what="the form">
        {(data) =>
          may(data, 'alerts:write') ? (
            <RuleForm
              initial={freshDraft(search)}
              ruleId={null}
              save={createRule}
              onSaved={onSaved}
            />
          ) : (
            <NoPermission what="the form of a new rule" />
          )
        }
      </QueryView>
    </Page>
  );
}
