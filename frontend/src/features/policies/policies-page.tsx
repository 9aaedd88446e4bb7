/** Lists usage policies with their history and the newest advice for every target. */
import { useQuery } from '@tanstack/react-query';

import { announcedSuitesQuery } from '../../api/catalog';
import { policiesQuery } from '../../api/policies';
import type { PolicyAdvice } from '../../api/types';
import { compact } from '../../lib/search-values';
import { ButtonLink } from '../../ui/button-link';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { QueryView } from '../../ui/query-view';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { adviceKey, PolicyCard } from '../../ui/policy-card';
import { EmptyState } from '../../ui/states';
import { TargetFilter } from '../../ui/target-filter';
import { SimulatedMarkOf } from '../../ui/target-name';
import type { PoliciesSearch } from './policies-search';
import { PolicyHistory } from './policy-history';

export interface PoliciesPageProps {
  search: PoliciesSearch;
  onSearch: (search: PoliciesSearch) => void;
}

export function PoliciesPage({ search, onSearch }: PoliciesPageProps) {
  const policies = useQuery(policiesQuery(search));
  return (
    <Page
      title="Usage policies"
      about="A usage policy says from which size on (a batch, a message) an arm is used in place of its reference. Here is what the measurements advise on each target, beside the policy in force."
    >
      <Filters search={search} onSearch={onSearch} />
      <QueryView query={policies} what="the policies" lines={6}>
        {({ items }) =>
          items.length === 0 ? (
            <NoPolicies />
          ) : (
            items.map((advice) => (
              <PolicyPanel key={adviceKey(advice)} advice={advice} />
            ))
          )
        }
      </QueryView>
    </Page>
  );
}

function Filters({ search, onSearch }: PoliciesPageProps) {
  const suites = useQuery(announcedSuitesQuery);
  return (
    <FilterBar>
      <FilterSelect
        label="Suite"
        all="All suites"
        value={search.suite}
        options={(suites.data?.items ?? []).map(({ name, title }) => ({
          value: name,
          label: title,
        }))}
        onChange={(suite) => onSearch(compact({ ...search, suite }))}
      />
      <TargetFilter
        value={search.target}
        onChange={(target) => onSearch(compact({ ...search, target }))}
      />
    </FilterBar>
  );
}

function PolicyPanel({ advice }: { advice: PolicyAdvice }) {
  return (
    <Panel
      title={`${advice.policy} on ${advice.target_name}`}
      mark={<SimulatedMarkOf id={advice.target_id} />}
      {...(advice.description === null ? {} : { note: advice.description })}
    >
      <PolicyCard advice={advice} />
      <PolicyHistory advice={advice} />
    </Panel>
  );
}

function NoPolicies() {
  return (
    <Panel title="No policies">
      <EmptyState
        icon="policies"
        title="No policies measured yet"
        action={
          <ButtonLink to="/runs/new" variant="default">
            Run a suite
          </ButtonLink>
        }
      >
        A suite declares policies in its manifest as [[policies]]: the arm, the
        param and the minimum in force. Its first ordinary run measures them.
      </EmptyState>
    </Panel>
  );
}
