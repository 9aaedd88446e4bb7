/** Shows the arms of one target: the chart, a legend that hides arms, and the unavailable arms. */
import { Button, Group } from '@mantine/core';

import type { Benchmark, Comparison } from '../../api/types';
import { LegendSwitches } from '../../charts/legend';
import { compact } from '../../lib/search-values';
import { AppLink } from '../../ui/app-link';
import { DEMONSTRATION, VERDICTS } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { SimulatedMarkOf } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';
import type { ArmsSearch } from './arms-search';
import type { Evidence } from './report-evidence';
import { hasRatio, RatioChart, worst } from './ratio-chart';
import { armsOf, lookOf } from './arm-series';
import { ValueChart } from './value-chart';
import { hiddenArms, isShown, toggleArm, type ArmsView } from './arms-view';

export interface TargetPanelProps {
  benchmark: Benchmark;
  metric: string;
  view: ArmsView;
  rows: readonly Comparison[];
  evidence: Evidence;
  search: ArmsSearch;
  onSearch: (search: ArmsSearch) => void;
}

export function TargetPanel(props: TargetPanelProps) {
  const { benchmark, metric, view, rows, evidence, search } = props;
  const hidden = hiddenArms(search);
  const comparisons = rows.filter(
    (row) => hasRatio(row) && isShown(view, row.params) && !hidden.has(row.arm),
  );
  const measured = evidence.measurements.filter(
    (row) =>
      row.metric === metric &&
      isShown(view, row.params) &&
      !hidden.has(row.arm),
  );
  // The first reason is shown for all arms, so that they are not repeated per arm.
  const undrawn = rows.find(
    (row) => isShown(view, row.params) && !hasRatio(row) && row.reason !== '',
  )?.reason;
  const legend = <Switches {...props} />;
  const drawn = { benchmark, metric, view, legend };
  const ratio = search.show !== 'value';
  return (
    <Panel
      title={rows[0]?.target_name ?? 'Target'}
      mark={<SimulatedMarkOf id={rows[0]?.target_id} />}
      actions={<Provenance rows={rows} benchmark={benchmark} />}
      about={
        ratio
          ? 'Median ratio of paired blocks with its 99.8 % interval. Below 1 is faster.'
          : 'Medians of warm samples. Verdicts come from the paired ratios, never from these.'
      }
    >
      {(ratio ? comparisons.length : measured.length) === 0 ? (
        <>
          {legend}
          <EmptyState icon="arms" title="Nothing to show">
            {ratio
              ? (undrawn ??
                'None of the arms shown was compared at these values.')
              : 'The job’s report has no such measurement.'}
          </EmptyState>
        </>
      ) : ratio ? (
        <RatioChart {...drawn} rows={comparisons} derived={evidence.derived} />
      ) : (
        <ValueChart
          {...drawn}
          rows={measured}
          per={search.per ?? 'iteration'}
        />
      )}
    </Panel>
  );
}

/** Returns the arms that cannot run here and why: from the report or, until it is loaded, from the comparisons. */
function unavailableArms({
  view,
  rows,
  evidence,
}: TargetPanelProps): Map<string, string> {
  const unavailable = [
    ...evidence.unavailable,
    ...rows.filter(({ verdict }) => verdict === 'not_applicable'),
  ].filter(({ params }) => isShown(view, params));
  const reasons = new Map<string, string>();
  for (const { arm, reason } of unavailable)
    if (!reasons.has(arm)) reasons.set(arm, reason);
  return reasons;
}

function Switches(props: TargetPanelProps) {
  const { benchmark, view, rows, evidence, search, onSearch } = props;
  const hidden = hiddenArms(search);
  const show = (hide: string | undefined) =>
    onSearch(compact({ ...search, hide }));
  const drawn = [
    ...rows.filter(hasRatio),
    ...(search.show === 'value' ? evidence.measurements : []),
  ].filter(({ params }) => isShown(view, params));
  const arms = armsOf(benchmark, drawn);
  const missing = [...unavailableArms(props)].filter(
    ([arm]) => !arms.includes(arm),
  );
  return (
    <LegendSwitches
      label="Arms"
      onToggle={(arm) => show(toggleArm(hidden, arm))}
      switches={[
        ...arms.map((arm) => ({
          name: arm,
          look: lookOf(benchmark, arm),
          on: !hidden.has(arm),
        })),
        ...missing.map(([arm, unavailable]) => ({
          name: arm,
          look: lookOf(benchmark, arm),
          on: false,
          unavailable,
        })),
      ]}
    >
      {hidden.size > 0 && (
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => show(undefined)}
        >
          Show all arms
        </Button>
      )}
    </LegendSwitches>
  );
}

function Provenance({
  rows,
  benchmark,
}: Pick<TargetPanelProps, 'rows' | 'benchmark'>) {
  const first = rows[0];
  const verdict = worst(rows)?.verdict;
  return (
    <Group gap={8}>
      {rows.some((row) => row.demonstration) && <Status look={DEMONSTRATION} />}
      {verdict !== undefined && <Status look={VERDICTS[verdict]} />}
      {first?.run_id !== null && first?.run_id !== undefined && (
        <span style={{ fontSize: '0.875rem' }}>
          <AppLink to="/runs/$runId" params={{ runId: first.run_id }}>
            Run
          </AppLink>
          , <TimeAgo at={first.measured_at ?? null} />
        </span>
      )}
      {typeof first?.target_id === 'string' && (
        <span style={{ fontSize: '0.875rem' }}>
          <AppLink
            to="/series"
            search={{ benchmark: benchmark.name, target: first.target_id }}
          >
            History
          </AppLink>
        </span>
      )}
    </Group>
  );
}
