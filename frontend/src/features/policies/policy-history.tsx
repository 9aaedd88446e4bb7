/** Charts the crossover of a policy over time: warm and cold with their intervals, and the value in force. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { policyHistoryQuery } from '../../api/policies';
import type { PolicyAdvice } from '../../api/types';
import { ChartFrame } from '../../charts/chart-frame';
import { IntervalChart } from '../../charts/interval-chart';
import type { IntervalPoint } from '../../charts/interval-picture';
import { Legend } from '../../charts/legend';
import { formatParam } from '../../lib/params';
import { formatDateTime } from '../../lib/times';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { QueryView } from '../../ui/query-view';
import { policyBadge } from '../../ui/policy-looks';
import { Status } from '../../ui/status';

export function PolicyHistory({ advice }: { advice: PolicyAdvice }) {
  const [shown, setShown] = useState(false);
  if (!shown) {
    return (
      <Button
        variant="default"
        size="xs"
        mt="sm"
        onClick={() => setShown(true)}
      >
        Show history
      </Button>
    );
  }
  return <History advice={advice} />;
}

function History({ advice }: { advice: PolicyAdvice }) {
  const history = useQuery(policyHistoryQuery(advice));
  return (
    <QueryView query={history} what="the history" lines={5}>
      {({ items }) => (
        <div style={{ marginTop: '1rem' }}>
          <ChartFrame
            title={`From where ${advice.arm} wins, job by job`}
            summary={advice.words}
            legend={<Legend names={['warm', 'cold']} />}
            chart={
              <IntervalChart
                series={[
                  {
                    name: 'warm',
                    points: items
                      .toReversed()
                      .map((older) => pointOf(older, 'warm')),
                  },
                  {
                    name: 'cold',
                    points: items
                      .toReversed()
                      .map((older) => pointOf(older, 'cold')),
                  },
                ]}
                references={[
                  {
                    y: advice.in_force.minimum,
                    label: `in force: ${formatParam(advice.in_force.minimum)}`,
                    side: 'above',
                  },
                ]}
                xLabel=""
                yLabel={advice.unit ?? advice.param}
                height={230}
                format={(value) => formatParam(value)}
              />
            }
            table={
              <DataTable
                label="History of the policy"
                rows={items}
                rowKey={({ id }) => id}
                columns={COLUMNS}
              />
            }
          />
        </div>
      )}
    </QueryView>
  );
}

function pointOf(advice: PolicyAdvice, which: 'warm' | 'cold'): IntervalPoint {
  const crossover = advice[which];
  return {
    x: formatDateTime(advice.measured_at),
    value: crossover?.value ?? null,
    lower: crossover?.lower ?? null,
    upper: crossover?.upper ?? null,
  };
}

const COLUMNS: readonly Column<PolicyAdvice>[] = [
  { header: 'Measured', cell: ({ measured_at: at }) => formatDateTime(at) },
  {
    header: 'Policy',
    cell: (advice) => <Status look={policyBadge(advice)} title={advice.why} />,
  },
  { header: 'Summary', cell: ({ words }) => words, wrap: true },
  {
    header: 'In force then',
    wrap: true,
    cell: ({ in_force: { minimum, warmup_rounds: rounds } }) =>
      `from ${formatParam(minimum)}${rounds === null ? '' : `, after ${rounds} warm-up round${rounds === 1 ? '' : 's'}`}`,
  },
  {
    header: 'Commit',
    cell: ({ commit }) => (
      <span className="pl-mono">{commit.slice(0, 10)}</span>
    ),
  },
  {
    header: 'Run',
    cell: ({ run_id: runId, job_id: job }) => (
      <AppLink to="/runs/$runId" params={{ runId }} search={{ job }}>
        Open run
      </AppLink>
    ),
  },
];
