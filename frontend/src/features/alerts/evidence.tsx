/**
 * The findings behind an alert: one picture of candidate and confirmation together, then each with its
 * filters.
 */
import type { AlertDetail, Finding } from '../../api/types';
import { ChartFrame } from '../../charts/chart-frame';
import { IntervalChart, type IntervalSeries } from '../../charts/interval-chart';
import { Legend } from '../../charts/legend';
import { shortId } from '../../lib/ids';
import { compareParams, paramsLabel } from '../../lib/params';
import { formatInterval, formatFigure, formatRatio, formatShare } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { DataTable } from '../../ui/data-table';
import { VERDICTS } from '../../ui/looks';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import classes from './alerts.module.css';

const ROLE_WORDS: Record<Finding['role'], string> = {
  candidate: 'first seen',
  confirmation: 'confirmation',
  recovery: 'recovery',
};

export function Evidence({ alert }: { alert: AlertDetail }) {
  const findings = alert.findings.toSorted(
    (a, b) => a.role.localeCompare(b.role) || compareParams(a.params, b.params),
  );
  return (
    <>
      <Panel title="Evidence">
        {findings.length === 0 ? (
          <EmptyState icon="eye" title="No finding is stored">
            The evidence appears with the first finding.
          </EmptyState>
        ) : (
          <EvidenceChart alert={alert} findings={findings} />
        )}
      </Panel>
      {findings.length > 0 && (
        <Panel title="How each finding was decided" note="Every filter with its number and its limit.">
          {findings.map((finding, index) => (
            <FindingView key={finding.id} finding={finding} open={index === 0} />
          ))}
        </Panel>
      )}
    </>
  );
}

function EvidenceChart({ alert, findings }: { alert: AlertDetail; findings: readonly Finding[] }) {
  const roles = [...new Set(findings.map(({ role }) => role))];
  const series: IntervalSeries[] = roles.map((role) => ({
    name: ROLE_WORDS[role],
    points: findings
      .filter((finding) => finding.role === role)
      .map(({ params, ratio, lower, upper }) => ({ x: paramsLabel(params), value: ratio, lower, upper })),
  }));
  const marks = [{ y: 1, label: `1.0 – as fast as ${alert.reference}`, side: 'above' as const }];
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
        { header: 'Session', cell: ({ role }) => ROLE_WORDS[role] },
        {
          header: 'Verdict',
          cell: ({ verdict, reason }) => <Status look={VERDICTS[verdict]} title={reason} />,
        },
        { header: 'Params', cell: ({ params }) => paramsLabel(params) },
        { header: 'Ratio', cell: ({ ratio }) => formatRatio(ratio), align: 'right' },
        { header: 'Interval', cell: ({ lower, upper }) => formatInterval(lower, upper), align: 'right' },
        {
          header: 'Blocks slower',
          align: 'right',
          cell: ({ share_slower: share, blocks, launches }) => (
            <span title={`${launches} launches`}>
              {formatShare(share)} of {blocks}
            </span>
          ),
        },
        {
          header: 'Run',
          cell: ({ run_id: runId, job_id: job }) => (
            <AppLink to="/runs/$runId" params={{ runId }} search={{ job }}>
              {shortId(runId)}
            </AppLink>
          ),
        },
      ]}
    />
  );
}

function FindingView({ finding, open }: { finding: Finding; open: boolean }) {
  return (
    <details className={classes.finding} open={open}>
      <summary>
        <strong>
          {ROLE_WORDS[finding.role]}, {paramsLabel(finding.params)}
        </strong>{' '}
        <Status look={VERDICTS[finding.verdict]} />{' '}
        <span className={classes.when}>
          <TimeAgo at={finding.created_at} />
        </span>
      </summary>
      <p style={{ margin: '0.3rem 0 0.5rem' }}>{finding.words}</p>
      <DataTable
        label={`Filters of ${ROLE_WORDS[finding.role]} at ${paramsLabel(finding.params)}`}
        rows={finding.filters}
        rowKey={({ name }) => name}
        columns={[
          {
            header: 'Holds',
            cell: ({ passed }) => (
              <Status
                look={
                  passed
                    ? { tone: 'good', icon: 'check', word: 'yes' }
                    : { tone: 'unsure', icon: 'cross', word: 'no' }
                }
              />
            ),
          },
          { header: 'Filter', cell: ({ name }) => name.replaceAll('_', ' ') },
          {
            header: 'Number',
            cell: ({ value }) => (value === null ? '–' : formatFigure(value)),
            align: 'right',
          },
          {
            header: 'Limit',
            cell: ({ limit }) => (limit === null ? '–' : formatFigure(limit)),
            align: 'right',
          },
          { header: 'In words', cell: ({ text }) => text, wrap: true },
        ]}
      />
      <details className={classes.details}>
        <summary>Method and data window</summary>
        <p className="pl-mono" style={{ overflowWrap: 'anywhere' }}>
          {finding.method} · {JSON.stringify(finding.parameters)} · {JSON.stringify(finding.window)}
        </p>
      </details>
    </details>
  );
}
