/**
 * Shows the arms of one benchmark: the rule, a chart per target, all points as a table, derived metrics, audits,
 * and the distribution of a selected point.
 */
import { useQueries } from '@tanstack/react-query';

import { jobReportQuery } from '../../api/runs';
import type { Arms, Benchmark, Comparison } from '../../api/types';
import { paramsKey } from '../../lib/params';
import { compact } from '../../lib/search-values';
import { AuditPanel } from '../../ui/audit-panel';
import { comparisonKey, ComparisonTable } from '../../ui/comparison-table';
import { DerivedMetricsTable } from '../../ui/derived-metrics-table';
import { Panel } from '../../ui/panel';
import { Segments } from '../../ui/segments';
import { SimulatedMarkOf } from '../../ui/target-name';
import classes from './arms.module.css';
import type { ArmsSearch } from './arms-search';
import { DistributionPanel } from './distribution-panel';
import { collectEvidence, jobsOf, type Evidence } from './report-evidence';
import { perUnitsOf } from './per-unit';
import { hasRatio, worst } from './ratio-chart';
import { TargetPanel } from './target-panel';
import { ViewControls } from './view-controls';
import { hiddenArms, isShown, viewOf, type ArmsView } from './arms-view';

export interface ArmsReportProps {
  arms: Arms;
  benchmark: Benchmark;
  search: ArmsSearch;
  onSearch: (search: ArmsSearch) => void;
}

/** Newest jobs of a target whose reports are read; older ones add little. */
const JOBS = 4;

interface TargetArms {
  targetId: string;
  rows: Comparison[];
  evidence: Evidence;
}

function byTarget(
  comparisons: readonly Comparison[],
): Map<string, Comparison[]> {
  const groups = new Map<string, Comparison[]>();
  for (const row of comparisons) {
    const key = row.target_id ?? '';
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}

/** Comparisons are shown at once; the reports beside them load separately. */
function useTargets(arms: Arms): TargetArms[] {
  const groups = [...byTarget(arms.comparisons)].map(([targetId, rows]) => ({
    targetId,
    rows,
    jobs: jobsOf(rows).slice(0, JOBS),
  }));
  const ids = [...new Set(groups.flatMap(({ jobs }) => jobs))];
  const reports = useQueries({ queries: ids.map((id) => jobReportQuery(id)) });
  const reportOf = new Map(ids.map((id, index) => [id, reports[index]?.data]));
  return groups.map(({ targetId, rows, jobs }) => {
    const own = jobs
      .map((id) => reportOf.get(id))
      .filter((report) => report !== undefined);
    return { targetId, rows, evidence: collectEvidence(own, arms.benchmark) };
  });
}

export function ArmsReport({
  arms,
  benchmark,
  search,
  onSearch,
}: ArmsReportProps) {
  const targets = useTargets(arms);
  const measurements = targets
    .flatMap(({ evidence }) => evidence.measurements)
    .filter(({ metric }) => metric === arms.metric);
  const compared = arms.comparisons
    .filter(hasRatio)
    .map(({ params }) => params);
  const measured = [...compared, ...measurements.map(({ params }) => params)];
  const view = viewOf(benchmark, { measured, drawable: compared }, search);
  return (
    <>
      <ViewControls
        view={view}
        metric={arms.metric}
        reference={
          arms.reference === arms.device_reference
            ? arms.reference
            : 'the reference'
        }
        pers={perUnitsOf(measurements)}
        search={search}
        onSearch={onSearch}
      />
      <Panel
        title={benchmark.title}
        {...(benchmark.description ? { note: benchmark.description } : {})}
      >
        <p className={classes.summary}>{arms.summary}</p>
        <p className={classes.rule}>
          <strong>Rule:</strong> {arms.rule}
        </p>
      </Panel>
      {targets.map(({ targetId, rows, evidence }) => (
        <TargetPanel
          key={targetId}
          benchmark={benchmark}
          metric={arms.metric}
          view={view}
          rows={rows}
          evidence={evidence}
          search={search}
          onSearch={onSearch}
        />
      ))}
      {targets.map(({ targetId, rows, evidence }) => (
        <AuditPanel
          key={targetId}
          audits={evidence.audits}
          comparisons={rows}
        />
      ))}
      <Points
        arms={arms}
        view={view}
        targets={targets}
        search={search}
        onSearch={onSearch}
      />
      <DerivedPanels targets={targets} />
    </>
  );
}

function DerivedPanels({ targets }: { targets: readonly TargetArms[] }) {
  const derivedTargets = targets.filter(
    ({ evidence }) => evidence.derived.length > 0,
  );
  return derivedTargets.map(({ targetId, rows, evidence }) => (
    <Panel
      key={targetId}
      flush
      title={
        targets.length > 1
          ? `Derived metrics on ${rows[0]?.target_name ?? 'target'}`
          : 'Derived metrics'
      }
      mark={<SimulatedMarkOf id={targetId} />}
    >
      <DerivedMetricsTable rows={evidence.derived} />
    </Panel>
  ));
}

interface PointsProps extends Pick<
  ArmsReportProps,
  'arms' | 'search' | 'onSearch'
> {
  view: ArmsView;
  targets: readonly TargetArms[];
}

/** Lists every arm at every point, or only what the charts show, and the distribution of the chosen row. */
function Points({ arms, view, targets, search, onSearch }: PointsProps) {
  const hidden = hiddenArms(search);
  const shown = arms.comparisons.filter(
    (row) => isShown(view, row.params) && !hidden.has(row.arm),
  );
  const all = search.rows === 'all' || shown.length === arms.comparisons.length;
  const rows = all ? arms.comparisons : shown;
  const chosen =
    arms.comparisons.find((row) => comparisonKey(row) === search.point) ??
    worst(rows.filter(hasRatio)) ??
    worst(rows);
  return (
    <>
      <Panel
        title="Comparisons"
        flush
        about="Select a point to see its samples."
        actions={
          shown.length < arms.comparisons.length && (
            <Segments
              label="Rows"
              value={search.rows ?? 'shown'}
              options={[
                { value: 'shown', label: `in the chart (${shown.length})` },
                { value: 'all', label: `all (${arms.comparisons.length})` },
              ]}
              onChange={(next) =>
                onSearch(
                  compact({
                    ...search,
                    rows: next === 'all' ? next : undefined,
                  }),
                )
              }
            />
          )
        }
      >
        <ComparisonTable
          label="Comparisons"
          rows={rows}
          showTarget={targets.length > 1}
          current={chosen === undefined ? undefined : comparisonKey(chosen)}
          onChoose={(row) =>
            onSearch(compact({ ...search, point: comparisonKey(row) }))
          }
        />
      </Panel>
      {chosen !== undefined && (
        <DistributionPanel key={paramsKey(chosen.params)} comparison={chosen} />
      )}
    </>
  );
}
