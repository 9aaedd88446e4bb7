/** The form of a new rule. A rule begins in shadow; its scope may come from the address. */
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
      title="New rule"
      crumb={<AppLink to="/rules">Rules</AppLink>}
      about="Set its scope and minimum effect, replay it on past data, then save it."
    >
      <QueryView query={session} what="the form">
        {(data) =>
          may(data, 'rules.write') ? (
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
