/** Filters of the inbox. Each is a value of the address. */
import { Chip, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { suitesQuery } from '../../api/catalog';
import { accountsQuery } from '../../api/session';
import { rulesQuery } from '../../api/rules';
import type { AlertCause, AlertKind, AlertState } from '../../api/types';
import { compact } from '../../lib/search-values';
import { DayFilter } from '../../ui/day-filter';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { ALERT_CAUSES, ALERT_KINDS, ALERT_STATES } from '../../ui/state-badges';
import { TargetFilter } from '../../ui/target-filter';
import { TextFilter } from '../../ui/text-filter';
import {
  ALERT_CAUSE_VALUES,
  ALERT_KIND_VALUES,
  ALERT_STATE_VALUES,
  type AlertsSearch,
} from './alerts-search';

export interface AlertsFilterBarProps {
  search: AlertsSearch;
  onSearch: (search: AlertsSearch) => void;
}

type SetFilters = (change: Partial<AlertsSearch>) => void;

export function AlertsFilterBar({ search, onSearch }: AlertsFilterBarProps) {
  const set: SetFilters = (change) =>
    onSearch(
      compact({ ...search, ...change, cursor: undefined, at: undefined }),
    );
  return (
    <FilterBar dense>
      <TextFilter
        label="Search"
        placeholder="title, text or commit"
        value={search.text}
        onChange={(text) => set({ text })}
      />
      <FilterSelect
        label="State"
        all="Any state"
        value={search.state}
        onChange={(state) => set({ state: state as AlertState | undefined })}
        options={ALERT_STATE_VALUES.map((value) => ({
          value,
          label: ALERT_STATES[value].word,
        }))}
      />
      <FilterSelect
        label="Kind"
        all="Any kind"
        value={search.kind}
        onChange={(kind) => set({ kind: kind as AlertKind | undefined })}
        options={ALERT_KIND_VALUES.map((value) => ({
          value,
          label: ALERT_KINDS[value],
        }))}
      />
      <FilterSelect
        label="Cause"
        all="Any cause"
        value={search.cause}
        onChange={(cause) => set({ cause: cause as AlertCause | undefined })}
        options={ALERT_CAUSE_VALUES.map((value) => ({
          value,
          label: ALERT_CAUSES[value].word,
        }))}
      />
      <NamedFilters search={search} set={set} />
      <DayFilter
        label="First seen from"
        value={search.from}
        onChange={(from) => set({ from })}
      />
      <DayFilter
        label="Before"
        value={search.to}
        onChange={(to) => set({ to })}
      />
      <Group gap={6} wrap="nowrap" role="group" aria-label="Only">
        <Chip
          size="sm"
          checked={search.overdue === true}
          onChange={(on) => set({ overdue: on ? true : undefined })}
        >
          overdue
        </Chip>
        <Chip
          size="sm"
          checked={search.shadow === true}
          onChange={(on) => set({ shadow: on ? true : undefined })}
        >
          in shadow
        </Chip>
      </Group>
    </FilterBar>
  );
}

/** Filters whose values have names of their own: suites, targets, people, rules. */
function NamedFilters({
  search,
  set,
}: {
  search: AlertsSearch;
  set: SetFilters;
}) {
  const suites = useQuery(suitesQuery);
  const accounts = useQuery(accountsQuery);
  const rules = useQuery(rulesQuery({}));
  return (
    <>
      <FilterSelect
        label="Suite"
        all="All suites"
        value={search.suite}
        onChange={(suite) => set({ suite })}
        options={(suites.data?.items ?? []).map(({ name, title }) => ({
          value: name,
          label: title,
        }))}
      />
      <TargetFilter
        value={search.target}
        onChange={(target) => set({ target })}
      />
      <FilterSelect
        label="Assignee"
        all="Anyone"
        value={search.assignee}
        onChange={(assignee) => set({ assignee })}
        options={[
          { value: 'none', label: 'nobody' },
          ...(accounts.data?.items ?? []).map(({ id, name }) => ({
            value: id,
            label: name,
          })),
        ]}
      />
      <FilterSelect
        label="Rule"
        all="Any rule"
        value={search.rule}
        onChange={(rule) => set({ rule })}
        options={(rules.data?.items ?? []).map(({ id, name }) => ({
          value: id,
          label: name,
        }))}
      />
    </>
  );
}
