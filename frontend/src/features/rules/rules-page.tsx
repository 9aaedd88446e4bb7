/** Lists all rules with owner, scope and alert quality, and everything without a rule. */
import { useQuery } from '@tanstack/react-query';

import { rulesQuery } from '../../api/rules';
import { may, sessionQuery } from '../../api/session';
import type { Rule, RuleKind, RuleMode } from '../../api/types';
import { compact } from '../../lib/search-values';
import { rulePatternsText } from '../../lib/rule-patterns';
import { formatPercent } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { ButtonLink } from '../../ui/button-link';
import { DataTable, type Column } from '../../ui/data-table';
import { FilterBar } from '../../ui/filter-bar';
import { FilterSelect } from '../../ui/filter-select';
import { MuteMark } from '../../ui/mute';
import { PagedList } from '../../ui/paged-list';
import { Page } from '../../ui/page';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { OrphansPanel } from './orphans-panel';
import {
  DIRECTION_LABELS,
  KIND_LABELS,
  MODE_BADGES,
  MODE_MEANING,
} from './rule-labels';
import { RULE_KINDS, RULE_MODES, type RulesSearch } from './rules-search';
import { ShippedRulesPanel } from './shipped-rules-panel';
import classes from './rules.module.css';

export interface RulesPageProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

export function RulesPage({ search, onSearch }: RulesPageProps) {
  const { shipped, ...ofRules } = search;
  const rules = useQuery(rulesQuery(ofRules));
  const session = useQuery(sessionQuery);
  const { cursor: _cursor, ...filters } = ofRules;
  const filtered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Rules"
      about="A rule decides which findings become alerts and who is notified. All its versions are kept."
      actions={
        may(session.data, 'rules.write') && (
          <ButtonLink to="/rules/new">New rule</ButtonLink>
        )
      }
    >
      <RuleFilters search={search} onSearch={onSearch} />
      <Panel title={filtered ? 'Matching rules' : 'All rules'} flush>
        <PagedList
          query={rules}
          what="the rules"
          plural="rules"
          icon="rules"
          filtered={filtered}
          onClear={() => onSearch({})}
          cursor={search.cursor}
          onCursor={(cursor) => onSearch(compact({ ...filters, cursor }))}
          empty={<NoRules />}
        >
          {(rows) => (
            <DataTable
              label="Rules"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ id }) => id}
            />
          )}
        </PagedList>
      </Panel>
      <ShippedRulesPanel current={shipped} />
      <OrphansPanel />
    </Page>
  );
}

function RuleFilters({ search, onSearch }: RulesPageProps) {
  const set = (change: Partial<RulesSearch>) =>
    onSearch(compact({ ...search, ...change, cursor: undefined }));
  return (
    <FilterBar>
      <FilterSelect
        label="Watches"
        all="Everything"
        value={search.kind}
        options={RULE_KINDS.map((value) => ({
          value,
          label: KIND_LABELS[value],
        }))}
        onChange={(kind) => set({ kind: kind as RuleKind | undefined })}
      />
      <FilterSelect
        label="Mode"
        all="Any mode"
        value={search.mode}
        options={RULE_MODES.map((value) => ({
          value,
          label: MODE_BADGES[value].word,
        }))}
        onChange={(mode) => set({ mode: mode as RuleMode | undefined })}
      />
    </FilterBar>
  );
}

function NoRules() {
  return (
    <EmptyState icon="rules" title="No rules: the built-in defaults decide">
      Write a rule to set another minimum effect somewhere, to own it, or to try
      one in shadow. It can be replayed on past data before it is saved.
    </EmptyState>
  );
}

const COLUMNS: readonly Column<Rule>[] = [
  {
    header: 'Rule',
    wrap: true,
    cell: (rule) => (
      <>
        <AppLink to="/rules/$ruleId" params={{ ruleId: rule.id }}>
          {rule.name}
        </AppLink>{' '}
        <span className={classes.sub}>version {rule.version}</span>
        <div className={classes.sub}>{rule.text}</div>
      </>
    ),
  },
  {
    header: 'Mode',
    cell: ({ mode, mute }) => (
      <>
        <Status look={MODE_BADGES[mode]} title={MODE_MEANING[mode]} />
        {mute !== null && <MuteMark mute={mute} />}
      </>
    ),
  },
  {
    header: 'Scope',
    wrap: true,
    cell: (rule) => rulePatternsText(rule),
  },
  {
    header: 'Alerts when it',
    cell: ({ direction, min_effect: effect }) =>
      `${DIRECTION_LABELS[direction]} by ${formatPercent(effect)}`,
  },
  { header: 'Owner', cell: ({ owner }) => owner?.name ?? 'nobody' },
  {
    header: 'Alert quality',
    wrap: true,
    cell: ({ precision }) => precision.words,
  },
];
