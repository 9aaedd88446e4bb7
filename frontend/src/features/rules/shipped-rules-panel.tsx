/** Lists the read-only rules: those of the suites' manifests and the built-in ones. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

import { shippedRulesQuery } from '../../api/rules';
import type { ShippedRule } from '../../api/types';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Panel } from '../../ui/panel';
import { QueryView } from '../../ui/query-view';
import { KIND_LABELS } from './rule-labels';
import classes from './rules.module.css';

/** `current` is the `SUITE/NAME` to highlight; for a built-in rule, the suite does not matter. */
export function ShippedRulesPanel({
  current,
}: {
  current: string | undefined;
}) {
  const rules = useQuery(shippedRulesQuery);
  return (
    <Panel
      title="Rules of suites"
      about="They come with each suite's manifest or are built in, and decide where no rule above does. Write a rule to replace one, or mute an alert of it."
      flush
    >
      <QueryView query={rules} what="the rules of suites" lines={4}>
        {({ items }) => <ShippedRules rules={items} current={current} />}
      </QueryView>
    </Panel>
  );
}

const keyOf = ({ suite, name }: ShippedRule) => `${suite ?? ''}/${name}`;

function ShippedRules({
  rules,
  current,
}: {
  rules: readonly ShippedRule[];
  current: string | undefined;
}) {
  const table = useRef<HTMLDivElement>(null);
  const name = current?.slice(current.indexOf('/'));
  const pointedOut = rules.find((rule) =>
    [current, name].includes(keyOf(rule)),
  );
  useEffect(() => {
    if (current === undefined) return;
    table.current
      ?.querySelector('[aria-current]')
      ?.scrollIntoView({ block: 'center' });
  }, [current]);
  return (
    <div ref={table}>
      <DataTable
        label="Rules of suites"
        columns={COLUMNS}
        rows={rules}
        rowKey={keyOf}
        current={pointedOut === undefined ? undefined : keyOf(pointedOut)}
      />
    </div>
  );
}

const COLUMNS: readonly Column<ShippedRule>[] = [
  {
    header: 'Rule',
    wrap: true,
    cell: (rule) => (
      <>
        {rule.name}
        <div className={classes.sub}>{rule.text}</div>
      </>
    ),
  },
  { header: 'Suite', cell: ({ suite }) => suite ?? 'built in' },
  { header: 'Watches', cell: ({ kind }) => KIND_LABELS[kind] },
  {
    header: 'Scope',
    wrap: true,
    cell: ({ suite, benchmark, arms, metric }) =>
      suite === null || benchmark === null ? (
        'everything'
      ) : (
        <>
          <AppLink to="/arms" search={{ suite, benchmark }}>
            {benchmark}
          </AppLink>
          , {metric} of {arms.join(', ')}
        </>
      ),
  },
];
