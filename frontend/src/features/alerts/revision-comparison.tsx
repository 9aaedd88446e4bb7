/**
 * Compares two revisions that one job measured interleaved on one target: head ÷ base per series with its
 * interval, the median of every launch, and the values of each revision.
 */
import { Alert as Notice } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';

import { jobReportQuery } from '../../api/runs';
import type {
  Comparison,
  Finding,
  JobReport,
  Measurement,
} from '../../api/types';
import { ChartFrame } from '../../charts/chart-frame';
import { DotChart } from '../../charts/dot-chart';
import { shortId } from '../../lib/ids';
import { paramsKey, paramsLabel } from '../../lib/params';
import { formatInterval, formatRatio, formatValue } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { Icon } from '../../ui/icon';
import { VERDICTS } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { Status } from '../../ui/status';
import classes from './alerts.module.css';
import { FINDING_ROLES } from './finding-roles';

/** A finding with the measurements of its job's report, once that is loaded. */
interface Row {
  finding: Finding;
  comparison: Comparison | undefined;
  base: Measurement | undefined;
  head: Measurement | undefined;
}

type Case = Pick<Finding, 'benchmark' | 'arm' | 'metric' | 'params'>;

function caseKey({ benchmark, arm, metric, params }: Case): string {
  return [benchmark, arm, metric, paramsKey(params)].join('|');
}

function rowOf(finding: Finding, report: JobReport | undefined): Row {
  const key = caseKey(finding);
  const measured = (side: 'base' | 'head') =>
    report?.measurements.find(
      (measurement) =>
        measurement.side === side && caseKey(measurement) === key,
    );
  return {
    finding,
    comparison: report?.comparisons.find(
      (comparison) =>
        comparison.sides === 'revisions' && caseKey(comparison) === key,
    ),
    base: measured('base'),
    head: measured('head'),
  };
}

function nameOf({ arm, params, role }: Finding): string {
  const session = role === 'confirmation' ? '' : ` (${FINDING_ROLES[role]})`;
  return `${arm}, ${paramsLabel(params)}${session}`;
}

export function RevisionComparison({
  findings,
}: {
  findings: readonly Finding[];
}) {
  const jobs = [...new Set(findings.map(({ job_id: id }) => id ?? ''))];
  const reports = useQueries({ queries: jobs.map((id) => jobReportQuery(id)) });
  const rows = findings.map((finding) =>
    rowOf(finding, reports[jobs.indexOf(finding.job_id ?? '')]?.data),
  );
  const same = reports.some(({ data }) => data?.base?.same_artifact === true);
  const worst = findings.reduce((a, b) =>
    (b.ratio ?? 0) > (a.ratio ?? 0) ? b : a,
  );
  return (
    <Panel
      title="Old and new revision"
      about="Launches of both took turns in one job on the same target, so that only the revision differs."
    >
      {same && (
        <Notice
          variant="outline"
          color="yellow"
          mb="sm"
          icon={<Icon name="info" />}
        >
          Both sides ran the same artifact: any difference comes from the
          environment, not from the code.
        </Notice>
      )}
      <ChartFrame
        title="Head ÷ base: above 1.0 the new revision is worse"
        summary={worst.words}
        chart={
          <DotChart
            rows={rows.map(({ finding, comparison }) => ({
              name: nameOf(finding),
              look: finding.role === 'recovery' ? 2 : 0,
              value: finding.ratio,
              lower: finding.lower,
              upper: finding.upper,
              further: comparison?.launch_ratios ?? [],
              figure: formatRatio(finding.ratio),
            }))}
            reference={{ at: 1, label: '1.0 – as fast as base' }}
            fromZero={false}
            format={(value) => value.toFixed(2)}
            scaleLabel={() => 'ticks: launch medians'}
          />
        }
        table={
          <>
            <DataTable
              label="Base and head"
              rows={rows}
              rowKey={({ finding }) => finding.id}
              columns={COLUMNS}
            />
            <LaunchMedians rows={rows} />
          </>
        }
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    header: 'Series',
    wrap: true,
    cell: ({ finding }) => (
      <>
        {finding.verdict !== null && (
          <Status look={VERDICTS[finding.verdict]} title={finding.reason} />
        )}{' '}
        {finding.arm} in {finding.benchmark}, {paramsLabel(finding.params)}
        <div className={classes.when}>{FINDING_ROLES[finding.role]}</div>
      </>
    ),
  },
  { header: 'Base', align: 'right', cell: ({ base }) => <Level of={base} /> },
  { header: 'Head', align: 'right', cell: ({ head }) => <Level of={head} /> },
  {
    header: 'Head ÷ base',
    align: 'right',
    cell: ({ finding: { ratio, lower, upper } }) => (
      <>
        {formatRatio(ratio)}
        <div className={classes.when}>{formatInterval(lower, upper)}</div>
      </>
    ),
  },
  {
    header: 'Run',
    cell: ({ finding: { run_id: runId, job_id: job } }) =>
      runId !== null && (
        <AppLink
          to="/runs/$runId"
          params={{ runId }}
          search={{ job: job ?? undefined }}
        >
          {shortId(runId)}
        </AppLink>
      ),
  },
];

/** The medians of the launches as text, for people who cannot see the chart. */
function LaunchMedians({ rows }: { rows: readonly Row[] }) {
  const known = rows.filter(
    ({ comparison }) => (comparison?.launch_ratios.length ?? 0) > 0,
  );
  if (known.length === 0) return null;
  return (
    <dl className={classes.launches}>
      {known.map(({ finding, comparison }) => (
        <div key={finding.id}>
          <dt>
            Launches of {finding.arm}, {paramsLabel(finding.params)}:
          </dt>
          <dd>
            {comparison?.launch_ratios
              .map((ratio) => formatRatio(ratio))
              .join(', ')}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Level({ of }: { of: Measurement | undefined }) {
  if (of === undefined) return <>–</>;
  const { median, median_lower: lower, median_upper: upper, unit } = of;
  return (
    <>
      {formatValue(median, unit)}
      {typeof lower === 'number' && typeof upper === 'number' && (
        <div className={classes.when}>
          {formatValue(lower, unit)} – {formatValue(upper, unit)}
        </div>
      )}
    </>
  );
}
