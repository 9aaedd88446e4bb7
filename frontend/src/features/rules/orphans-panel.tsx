/** Rules that decide about nothing, and measurements that no stored rule decides about. */
import { useQuery } from '@tanstack/react-query';

import { orphansQuery } from '../../api/rules';
import type { Orphans } from '../../api/types';
import { AppLink } from '../../ui/app-link';
import { DataTable } from '../../ui/data-table';
import { Loaded } from '../../ui/loaded';
import { Panel } from '../../ui/panel';
import classes from './rules.module.css';

export function OrphansPanel() {
  const orphans = useQuery(orphansQuery);
  return (
    <Panel
      title="Orphans"
      note="Rules whose benchmarks are gone, and measurements only the built-in default decides about."
      flush
    >
      <Loaded query={orphans} what="the orphans" lines={2}>
        {(data) => <Lists orphans={data} />}
      </Loaded>
    </Panel>
  );
}

function Lists({ orphans }: { orphans: Orphans }) {
  const { rules, unruled } = orphans;
  return (
    <>
      <p className={classes.note}>{orphans.words}</p>
      {rules.length > 0 && (
        <DataTable
          label="Rules that decide about nothing"
          rows={rules}
          rowKey={({ rule_id: id }) => id}
          columns={[
            {
              header: 'Rule',
              cell: ({ rule_id: id, name }) => (
                <AppLink to="/rules/$ruleId" params={{ ruleId: id }}>
                  {name}
                </AppLink>
              ),
            },
            { header: 'Why', cell: ({ reason }) => reason, wrap: true },
          ]}
        />
      )}
      {unruled.length > 0 && (
        <DataTable
          label="Measurements without a rule of their own"
          rows={unruled}
          rowKey={(row) => [row.suite, row.benchmark, row.arm, row.metric, row.target_id].join('|')}
          columns={[
            { header: 'Benchmark', cell: ({ suite, benchmark }) => `${suite} / ${benchmark}` },
            { header: 'Arm', cell: ({ arm }) => arm },
            { header: 'Metric', cell: ({ metric }) => metric },
            { header: 'Target', cell: ({ target_name: name }) => name },
            { header: 'Series', align: 'right', cell: ({ series }) => series },
            {
              header: 'Rule',
              cell: (row) => (
                <AppLink
                  to="/rules/new"
                  search={{
                    suite: row.suite,
                    benchmark: row.benchmark,
                    arm: row.arm,
                    metric: row.metric,
                    target: row.target_name,
                  }}
                  aria-label={`Write a rule for ${row.benchmark}, ${row.arm} on ${row.target_name}`}
                >
                  write one
                </AppLink>
              ),
            },
          ]}
        />
      )}
      {unruled.length < orphans.unruled_total && (
        <p className={classes.note}>
          The first {unruled.length} of {orphans.unruled_total}.
        </p>
      )}
    </>
  );
}
