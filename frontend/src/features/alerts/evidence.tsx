/**
 * Shows the findings behind an alert: a chart if arms differ, and the changes and a comparison of revisions if
 * the history of a series changed.
 */
import type { AlertDetail, Finding } from '../../api/types';
import { ChartFrame } from '../../charts/chart-frame';
import { IntervalChart } from '../../charts/interval-chart';
import type { IntervalSeries } from '../../charts/interval-picture';
import { Legend } from '../../charts/legend';
import { shortId } from '../../lib/ids';
import { compareParams, paramsLabel } from '../../lib/params';
import { formatInterval, formatRatio, formatShare } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable } from '../../ui/data-table';
import { VERDICTS } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { PoliciesPanel } from '../../ui/policy-card';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import classes from './alerts.module.css';
import { ChangesPanel } from './changes-panel';
import { FINDING_ROLES } from './finding-roles';
import { RevisionComparison } from './revision-comparison';

export function Evidence({ alert }: { alert: AlertDetail }) {
  const findings = alert.findings.toSorted(
    (a, b) => a.role.localeCompare(b.role) || compareParams(a.params, b.params),
  );
  const arms = findings.filter(({ sides }) => sides === 'arms');
  const revisions = findings.filter(({ sides }) => sides === 'revisions');
  const changes = findings.filter(({ series_id: series }) => series !== null);
  const others = findings.filter(
    (finding) => finding.sides === null && finding.series_id === null,
  );
  return (
    <>
      {(findings.length === 0 || arms.length > 0) && (
        <Panel title="Evidence">
          {findings.length === 0 ? (
            <EmptyState icon="eye" title="No findings yet">
              The evidence appears with the first finding.
            </EmptyState>
          ) : (
            <EvidenceChart alert={alert} findings={arms} />
          )}
        </Panel>
      )}
      {revisions.length > 0 && <RevisionComparison findings={revisions} />}
      {changes.length > 0 && <ChangesPanel findings={changes} />}
      {alert.kind === 'policy' && (
        <PoliciesPanel
          filters={{
            suite: alert.suite,
            target: alert.target_id ?? undefined,
          }}
          benchmark={alert.benchmark}
          title="What is measured now"
        />
      )}
      {others.length > 0 && (
        <Panel title="Evidence">
          {others.map((finding) => (
            <p key={finding.id} className={classes.sentence}>
              <span className={classes.when}>
                {FINDING_ROLES[finding.role]}
              </span>{' '}
              {finding.words}
            </p>
          ))}
        </Panel>
      )}
    </>
  );
}

function EvidenceChart({
  alert,
  findings,
}: {
  alert: AlertDetail;
  findings: readonly Finding[];
}) {
  const roles = [...new Set(findings.map(({ role }) => role))];
  const series: IntervalSeries[] = roles.map((role) => ({
    name: FINDING_ROLES[role],
    points: findings
      .filter((finding) => finding.role === role)
      .map(({ params, ratio, lower, upper }) => ({
        x: paramsLabel(params),
        value: ratio,
        lower,
        upper,
      })),
  }));
  const marks = [
    {
      y: 1,
      label: `1.0 – as fast as ${alert.reference}`,
      side: 'above' as const,
    },
  ];
  const drawable = findings.some(({ ratio }) => ratio !== null);
  const table = <FindingsTable findings={findings} />;
  if (!drawable) return table;
  return (
    <ChartFrame
      title={`Time of ${alert.arm} ÷ time of ${alert.reference}`}
      summary={alert.words}
      legend={<Legend names={series.map(({ name }) => name)} />}
      chart={
        <IntervalChart
          series={series}
          references={marks}
          xLabel=""
          yLabel="ratio"
          height={230}
          format={(value) => value.toFixed(2)}
        />
      }
      table={table}
    />
  );
}

function FindingsTable({ findings }: { findings: readonly Finding[] }) {
  return (
    <DataTable
      label="Findings"
      rows={findings}
      rowKey={({ id }) => id}
      columns={[
        { header: 'Session', cell: ({ role }) => FINDING_ROLES[role] },
        {
          header: 'Verdict',
          cell: ({ verdict, reason }) =>
            verdict === null ? (
              '–'
            ) : (
              <Status look={VERDICTS[verdict]} title={reason} />
            ),
        },
        { header: 'Params', cell: ({ params }) => paramsLabel(params) },
        {
          header: 'Ratio',
          cell: ({ ratio }) => formatRatio(ratio),
          align: 'right',
        },
        {
          header: 'Interval',
          cell: ({ lower, upper }) => formatInterval(lower, upper),
          align: 'right',
        },
        {
          header: 'Blocks slower',
          align: 'right',
          cell: ({ share_slower: share, blocks, launches }) => (
            <span
              title={launches === null ? undefined : `${launches} launches`}
            >
              {formatShare(share)} of {blocks ?? 0}
            </span>
          ),
        },
        {
          header: 'Run',
          cell: ({ run_id: runId, job_id: job }) =>
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
      ]}
    />
  );
}
