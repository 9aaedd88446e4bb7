/**
 * Shows the analysis of a job: verdicts first, then checks, gates, derived metrics and the
 * measurements.
 */
import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { isApiError } from '../../api/errors';
import { jobReportQuery } from '../../api/runs';
import type {
  Job,
  JobReport,
  Judged,
  Measurement,
  Reason,
  Run,
  Unavailable,
  Witness,
} from '../../api/types';
import { paramsKey, paramsLabel } from '../../lib/params';
import { formatInteger, formatValue } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { AuditPanel } from '../../ui/audit-panel';
import {
  BRACKETS,
  ComparisonTable,
  isDeciding,
} from '../../ui/comparison-table';
import { DataTable, type Column } from '../../ui/data-table';
import { DerivedMetricsTable } from '../../ui/derived-metrics-table';
import { Icon } from '../../ui/icon';
import { Identifier } from '../../ui/identifier';
import { QueryView } from '../../ui/query-view';
import { VERDICTS } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { Gates } from './gates';
import { Reasons } from './reasons';
import { Waivers } from './waivers';
import classes from './runs.module.css';

export function JobReportView({ run, job }: { run: Run; job: Job }) {
  const report = useQuery(jobReportQuery(job.id));
  if (isApiError(report.error) && report.error.code === 'not_analysed') {
    return (
      <Panel title="Verdicts">
        <EmptyState icon="eye" title="Not analysed yet">
          Verdicts appear here after the analysis.
        </EmptyState>
      </Panel>
    );
  }
  return (
    <div style={{ margin: '1rem 0' }}>
      <QueryView query={report} what="the report" lines={6}>
        {(data) => <Report run={run} job={job} report={data} />}
      </QueryView>
    </div>
  );
}

function Report({
  run,
  job,
  report,
}: {
  run: Run;
  job: Job;
  report: JobReport;
}) {
  return (
    <>
      <SuppressedNote names={report.suppressed} />
      <Waivers run={run} job={job} report={report} />
      <Reasons run={run} reasons={report.reasons} />
      <Witnesses rows={report.witnesses} />
      <Verdicts run={run} report={report} />
      <AuditPanel audits={report.audits} comparisons={report.comparisons} />
      <UnavailableArms rows={report.unavailable} />
      {report.checks.length > 0 && <Checks report={report} />}
      <Gates gates={report.gates} saidElsewhere={saidOf(report.reasons)} />
      {report.derived.length > 0 && (
        <Panel title="Derived metrics" flush>
          <DerivedMetricsTable rows={report.derived} showBenchmark />
        </Panel>
      )}
      <Measurements run={run} job={job} measurements={report.measurements} />
    </>
  );
}

/** Names the configuration errors that the request suppressed, so that the verdicts never hide them. */
function SuppressedNote({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <Alert
      color="yellow"
      variant="outline"
      mb="md"
      role="note"
      icon={<Icon name="warning" />}
    >
      Measured despite suppressed configuration errors:{' '}
      <span className="pl-mono">{names.join(', ')}</span>.
    </Alert>
  );
}

function nothingToCompareText({ trigger }: Run, revisions: boolean): string {
  if (trigger === 'import')
    return 'Another tool measured the arms one after the other, not in shared rounds.';
  return revisions
    ? 'No benchmark of this job has samples of both revisions.'
    : 'No benchmark of this job has a second arm with samples.';
}

/** Returns the sentences that the list of causes already shows, so that the tables do not repeat them. */
function saidOf(reasons: readonly Reason[]): ReadonlySet<string> {
  return new Set(reasons.map(({ cause }) => cause).filter(Boolean));
}

/** Lists the comparisons: head against base for an A/B job, otherwise each arm against its reference. */
function Verdicts({
  run,
  report: {
    base,
    revision,
    comparisons,
    disturbances,
    reasons,
    saved,
    unaffected,
  },
}: {
  run: Run;
  report: JobReport;
}) {
  const [first] = comparisons;
  const revisions = base !== null && base !== undefined;
  return (
    <Panel
      title="Verdicts"
      flush
      about={
        revisions
          ? 'The head against its base, paired launch by launch. Below 1 the head is faster.'
          : 'Each arm against its reference, paired block by block. Below 1 is faster.'
      }
      actions={
        revisions
          ? // An A/A job has one revision on both sides.
            base.revision !== revision && (
              <AppLink
                to="/compare"
                search={{
                  base: base.revision,
                  head: revision,
                  suite: run.suite,
                }}
              >
                Compare revisions
              </AppLink>
            )
          : first !== undefined && (
              <AppLink
                to="/arms"
                search={{ suite: run.suite, benchmark: first.benchmark }}
              >
                Show in Arms
              </AppLink>
            )
      }
    >
      {unaffected && <p className={classes.note}>{unaffected.words}</p>}
      {saved && <p className={classes.note}>{saved.words}</p>}
      {revisions && base.same_artifact && comparisons.length > 0 && (
        <p className={classes.note}>
          Both sides ran the same artifact: any difference comes from the
          environment, not from the code.
        </p>
      )}
      {disturbances.map((sentence) => (
        <p key={sentence} className={classes.note}>
          {sentence}
        </p>
      ))}
      {comparisons.length === 0 ? (
        <EmptyState icon="arms" title="Nothing to compare">
          {unaffected
            ? 'The change does not affect what was asked for.'
            : nothingToCompareText(run, revisions)}
        </EmptyState>
      ) : (
        <ComparisonTable
          label="Verdicts"
          rows={comparisons}
          showBenchmark
          saidElsewhere={saidOf(reasons)}
        />
      )}
      {!comparisons.every(isDeciding) && (
        <p className={classes.note}>{BRACKETS}</p>
      )}
    </Panel>
  );
}

/** Shows whether the arms that declare a witness ran their own code. */
function Witnesses({ rows }: { rows: readonly Witness[] }) {
  return (
    <ArmList
      title="Witnesses"
      about="What shows that an arm ran its own code, and no fallback. An arm whose fallback ran fails, whatever its times."
      rows={rows.map((row) => ({ ...row, reason: row.words }))}
    />
  );
}

function UnavailableArms({ rows }: { rows: readonly Unavailable[] }) {
  return (
    <ArmList
      title="Unavailable arms"
      about="Not a defect: this target or its runtime lacks what the arm needs."
      rows={rows.map((row) => ({ ...row, verdict: 'not_applicable' }))}
    />
  );
}

function ArmList({
  title,
  about,
  rows,
}: {
  title: string;
  about: string;
  rows: readonly (Unavailable & { verdict: Judged })[];
}) {
  if (rows.length === 0) return null;
  return (
    <Panel title={title} about={about}>
      <ul className={classes.checks} aria-label={title}>
        {rows.map(({ benchmark, arm, params, verdict, reason }) => (
          <li key={[benchmark, arm, paramsKey(params)].join('|')}>
            <Status look={VERDICTS[verdict]} />
            <span style={{ color: 'var(--pl-muted)' }}>{benchmark}</span>
            <span className="pl-mono">{arm}</span>
            {Object.keys(params).length > 0 && (
              <span>at {paramsLabel(params)}</span>
            )}
            <span>{reason}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Checks({ report }: { report: JobReport }) {
  const failed = report.checks.filter((check) => !check.ok);
  return (
    <Panel title="Correctness checks">
      {failed.length > 0 && (
        <Alert
          color="red"
          variant="outline"
          mb="sm"
          icon={<Icon name="warning" />}
        >
          Timings do not count while a check fails.
        </Alert>
      )}
      <ul className={classes.checks}>
        {report.checks.map((check) => (
          <li key={check.name}>
            <Status
              look={
                check.ok
                  ? { tone: 'good', icon: 'check', word: 'ok' }
                  : { tone: 'bad', icon: 'cross', word: 'failed' }
              }
            />
            <span className="pl-mono">{check.name}</span>
            <span style={{ color: 'var(--pl-muted)' }}>{check.detail}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const figure = (pick: (row: Measurement) => number) => (row: Measurement) =>
  formatValue(pick(row), row.unit);

const MEASUREMENT_COLUMNS: readonly Column<Measurement>[] = [
  {
    header: 'Benchmark',
    cell: (row) => <Identifier name={row.benchmark} />,
    breaks: true,
  },
  { header: 'Params', cell: (row) => paramsLabel(row.params) },
  { header: 'Arm', cell: (row) => <Identifier name={row.arm} />, breaks: true },
  {
    header: 'Metric',
    cell: (row) => `${row.metric} (${row.direction} is better)`,
  },
  { header: 'Median', cell: figure((row) => row.median), align: 'right' },
  { header: 'Mean', cell: figure((row) => row.mean), align: 'right' },
  { header: 'p99', cell: figure((row) => row.p99), align: 'right' },
  { header: 'Min', cell: figure((row) => row.min), align: 'right' },
  { header: 'Max', cell: figure((row) => row.max), align: 'right' },
  { header: 'SD', cell: figure((row) => row.sd), align: 'right' },
  { header: 'n', cell: (row) => formatInteger(row.n), align: 'right' },
  { header: 'Flags', cell: (row) => row.flags.join(', ') || '–' },
];

const SIDE: Column<Measurement> = {
  header: 'Side',
  cell: ({ side }) => side ?? '–',
};

const measurementKey = (row: Measurement) =>
  [row.benchmark, row.arm, row.metric, paramsKey(row.params)].join('|');

/** Orders base and head of each measurement next to each other, otherwise as the server does. */
function paired(rows: readonly Measurement[]): readonly Measurement[] {
  const place = new Map<string, number>();
  for (const row of rows)
    place.set(
      measurementKey(row),
      place.get(measurementKey(row)) ?? place.size,
    );
  const of = (row: Measurement) => place.get(measurementKey(row)) ?? 0;
  return rows.toSorted((a, b) => of(a) - of(b));
}

interface MeasurementsProps {
  run: Run;
  job: Job;
  measurements: readonly Measurement[];
}

function Measurements({ run, job, measurements }: MeasurementsProps) {
  if (measurements.length === 0) return null;
  const sides = measurements.some(
    ({ side }) => side !== null && side !== undefined,
  );
  return (
    <Panel
      title="Measurements"
      flush
      about="Per iteration, warm-up excluded."
      actions={
        // Measurements of A/B jobs never enter the history.
        !sides && (
          <AppLink
            to="/series"
            search={{ suite: run.suite, target: job.target_id }}
          >
            Show history
          </AppLink>
        )
      }
    >
      <DataTable
        label="Measurements"
        rows={sides ? paired(measurements) : measurements}
        columns={sides ? [SIDE, ...MEASUREMENT_COLUMNS] : MEASUREMENT_COLUMNS}
        rowKey={(row) => `${measurementKey(row)}|${row.side ?? ''}`}
      />
    </Panel>
  );
}
