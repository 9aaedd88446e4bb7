/** Lists rules without measurements, and measurements without a stored rule. */
import { Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { orphansQuery } from '../../api/rules';
import type { Orphans } from '../../api/types';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { TargetName } from '../../ui/target-name';
import classes from './rules.module.css';

export function OrphansPanel() {
  const orphans = useQuery(orphansQuery);
  return (
    <Panel
      title="Gaps in the rules"
      about="Rules whose benchmarks are gone, and measurements that only the built-in default covers."
      flush
    >
      <QueryView query={orphans} what="the gaps in the rules" lines={2}>
        {(data) => <OrphanTables orphans={data} />}
      </QueryView>
    </Panel>
  );
}

function OrphanTables({ orphans }: { orphans: Orphans }) {
  const { rules, unruled } = orphans;
  return (
    <>
      <p className={classes.note}>{orphans.words}</p>
      {rules.length > 0 && (
        <>
          <Title order={3} className={classes.heading}>
            Rules without measurements
          </Title>
          <DataTable
            label="Rules without measurements"
            rows={rules}
            rowKey={({ rule_id: id }) => id}
            columns={IDLE_RULE_COLUMNS}
          />
        </>
      )}
      {unruled.length > 0 && (
        <>
          <Title order={3} className={classes.heading}>
            Measurements without their own rule
          </Title>
          <DataTable
            label="Measurements without their own rule"
            rows={unruled}
            rowKey={(row) =>
              [
                row.suite,
                row.benchmark,
                row.arm,
                row.metric,
                row.target_id,
              ].join('|')
            }
            columns={UNRULED_COLUMNS}
          />
        </>
      )}
      {unruled.length < orphans.unruled_total && (
        <p className={classes.note}>
          The first {unruled.length} of {orphans.unruled_total}.
        </p>
      )}
    </>
  );
}

const IDLE_RULE_COLUMNS: readonly Column<Orphans['rules'][number]>[] = [
  {
    header: 'Rule',
    cell: ({ rule_id: id, name }) => (
      <AppLink to="/rules/$ruleId" params={{ ruleId: id }}>
        {name}
      </AppLink>
    ),
  },
  { header: 'Why', cell: ({ reason }) => reason, wrap: true },
];

const UNRULED_COLUMNS: readonly Column<Orphans['unruled'][number]>[] = [
  {
    header: 'Benchmark',
    cell: ({ suite, benchmark }) => `${suite} / ${benchmark}`,
  },
  { header: 'Arm', cell: ({ arm }) => arm },
  { header: 'Metric', cell: ({ metric }) => metric },
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName id={id} name={name} />
    ),
  },
  { header: 'Series', align: 'right', cell: ({ series }) => series },
  {
    header: 'Rule',
    cell: ({ suite, benchmark, arm, metric, target_name: target }) => (
      <AppLink
        to="/rules/new"
        search={{ suite, benchmark, arm, metric, target }}
        aria-label={`New rule for ${benchmark}, ${arm} on ${target}`}
      >
        New rule
      </AppLink>
    ),
  },
];
