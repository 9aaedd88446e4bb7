/** Filters of the inbox: state, suite, target, assignee. */
import { useQuery } from '@tanstack/react-query';

import { suitesQuery, targetsQuery } from '../../api/catalog';
import { accountsQuery } from '../../api/session';
import type { AlertState } from '../../api/types';
import { compact } from '../../lib/search';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { ALERT_STATES } from '../../ui/looks';
import { ALERT_STATE_VALUES, type AlertsSearch } from './alerts-search';

export interface AlertsFilterBarProps {
  search: AlertsSearch;
  onSearch: (search: AlertsSearch) => void;
}

export function AlertsFilterBar({ search, onSearch }: AlertsFilterBarProps) {
  const suites = useQuery(suitesQuery);
  const targets = useQuery(targetsQuery);
  const accounts = useQuery(accountsQuery);
  const set = (change: Partial<AlertsSearch>) =>
    onSearch(compact({ ...search, ...change, cursor: undefined, at: undefined }));
  return (
    <FilterBar>
      <FilterSelect
        label="State"
        all="Any state"
        value={search.state}
        onChange={(state) => set({ state: state as AlertState | undefined })}
        options={ALERT_STATE_VALUES.map((value) => ({ value, label: ALERT_STATES[value].word }))}
      />
      <FilterSelect
        label="Suite"
        all="All suites"
        value={search.suite}
        onChange={(suite) => set({ suite })}
        options={(suites.data?.items ?? []).map(({ name, title }) => ({ value: name, label: title }))}
      />
      <FilterSelect
        label="Target"
        all="All targets"
        value={search.target}
        onChange={(target) => set({ target })}
        options={(targets.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
      <FilterSelect
        label="Assignee"
        all="Anybody"
        value={search.assignee}
        onChange={(assignee) => set({ assignee })}
        options={(accounts.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
    </FilterBar>
  );
}
