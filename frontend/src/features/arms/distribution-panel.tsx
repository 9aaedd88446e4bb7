/**
 * Draws the raw samples of one point as an empirical distribution per arm: the share of blocks at most this slow.
 */
import { useQuery } from '@tanstack/react-query';

import { isApiError } from '../../api/errors';
import { distributionQuery, type Point } from '../../api/runs';
import type { Comparison, Distribution } from '../../api/types';
import { ChartFrame } from '../../charts/chart-frame';
import { Legend } from '../../charts/legend';
import { StepChart } from '../../charts/step-chart';
import { paramsLabel } from '../../lib/params';
import { formatInteger, formatShare, formatValue } from '../../lib/units';
import { DataTable } from '../../ui/data-table';
import { QueryView } from '../../ui/query-view';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { SimulatedMarkOf } from '../../ui/target-name';
import { chooseAxisCut, quantile, type AxisCut } from './distribution-axis';

export function DistributionPanel({ comparison }: { comparison: Comparison }) {
  const { job_id: jobId, benchmark, metric, params } = comparison;
  const where = comparison.target_name ? ` on ${comparison.target_name}` : '';
  const title = `Distribution at ${paramsLabel(params)}${where}`;
  if (jobId === null || jobId === undefined) {
    return (
      <Panel title={title} mark={<SimulatedMarkOf id={comparison.target_id} />}>
        <EmptyState icon="arms" title="No samples at this point">
          The job that measured it is not known.
        </EmptyState>
      </Panel>
    );
  }
  return (
    <LoadedDistribution
      title={title}
      point={{ jobId, benchmark, metric, params }}
      comparison={comparison}
    />
  );
}

interface LoadedDistributionProps {
  title: string;
  point: Point;
  comparison: Comparison;
}

function LoadedDistribution({
  title,
  point,
  comparison,
}: LoadedDistributionProps) {
  const { arm, reference, reason } = comparison;
  const distribution = useQuery(distributionQuery(point));
  if (isApiError(distribution.error) && distribution.error.status === 404) {
    return (
      <Panel title={title} mark={<SimulatedMarkOf id={comparison.target_id} />}>
        <EmptyState icon="arms" title="No samples at this point">
          {reason}
        </EmptyState>
      </Panel>
    );
  }
  return (
    <Panel title={title} mark={<SimulatedMarkOf id={comparison.target_id} />}>
      <QueryView query={distribution} what="the distribution" lines={6}>
        {(data) => (
          <Ecdf
            data={{ ...data, arms: moveReferenceLast(data.arms, reference) }}
            chosen={[arm, reference]}
          />
        )}
      </QueryView>
    </Panel>
  );
}

/** Moves the reference to the end, so that each arm has the look that it has in the chart of ratios. */
function moveReferenceLast(
  arms: Distribution['arms'],
  reference: string,
): Distribution['arms'] {
  return [
    ...arms.filter(({ arm }) => arm !== reference),
    ...arms.filter(({ arm }) => arm === reference),
  ];
}

function cutText({ beyond }: AxisCut): string {
  const shares = beyond
    .map(({ arm, share }) => `${formatShare(share)} of ${arm}`)
    .join(' and ');
  return ` The axis leaves out the slowest ${shares}.`;
}

/** With more arms, only the chosen one and its reference are drawn; the table has every arm. */
const MAX_DRAWN_ARMS = 3;

function Ecdf({
  data,
  chosen,
}: {
  data: Distribution;
  chosen: readonly string[];
}) {
  const few = data.arms.length <= MAX_DRAWN_ARMS;
  const drawn = few
    ? data.arms
    : data.arms.filter(({ arm }) => chosen.includes(arm));
  const shownText = few
    ? data.summary
    : `${chosen.join(' and ')}; the table has every arm.`;
  const cut = chooseAxisCut(drawn);
  const format = (value: number | undefined) =>
    value === undefined ? '–' : formatValue(value, data.unit);
  return (
    <ChartFrame
      title={`Share of samples at or below each ${data.metric}`}
      summary={shownText + (cut === undefined ? '' : cutText(cut))}
      legend={<Legend names={drawn.map(({ arm }) => arm)} />}
      chart={
        <StepChart
          xLabel={`${data.metric} per iteration`}
          format={format}
          until={cut?.until}
          series={drawn.map(({ arm, points }) => ({
            name: arm,
            points: points.map(({ value, share }) => ({ x: value, share })),
          }))}
        />
      }
      table={
        <DataTable
          label="Distribution per arm"
          rows={data.arms}
          rowKey={({ arm }) => arm}
          columns={[
            { header: 'Arm', cell: ({ arm }) => arm },
            {
              header: 'Samples',
              cell: ({ n }) => formatInteger(n),
              align: 'right',
            },
            {
              header: '10 % at or below',
              cell: (arm) => format(quantile(arm, 0.1)),
              align: 'right',
            },
            {
              header: 'Median',
              cell: ({ median }) => format(median),
              align: 'right',
            },
            {
              header: '90 % at or below',
              cell: (arm) => format(quantile(arm, 0.9)),
              align: 'right',
            },
            {
              header: '99 % at or below',
              cell: (arm) => format(quantile(arm, 0.99)),
              align: 'right',
            },
          ]}
        />
      }
    />
  );
}
