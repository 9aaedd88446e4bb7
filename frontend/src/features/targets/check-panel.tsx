/** Shows the last health check: the result of every step, and the output of its commands. */
import type { CheckStep, HealthCheck } from '../../api/types';
import { formatDuration } from '../../lib/times';
import { formatFigure, formatValue } from '../../lib/units';
import { DataTable, type Column } from '../../ui/data-table';
import { Panel } from '../../ui/panel';
import { CommandOutputs } from '../../ui/command-outputs';
import { EmptyState } from '../../ui/states';
import { Status, type Badge } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import classes from './targets.module.css';

const PASSED: Badge = { tone: 'good', icon: 'check', word: 'passed' };
const FAILED: Badge = { tone: 'bad', icon: 'cross', word: 'failed' };
/** Neither passed nor failed: an earlier step failed, or the device gave no answer. */
const NOT_LOOKED_AT: Badge = {
  tone: 'quiet',
  icon: 'muted',
  word: 'not looked at',
};

function measured({ value, unit }: CheckStep): string {
  if (value === null) return '–';
  if (unit === 'bytes') return formatValue(value, 'bytes');
  return `${formatFigure(value)} ${(unit ?? '').replaceAll('_', ' ')}`.trim();
}

const COLUMNS: readonly Column<CheckStep>[] = [
  { header: 'Step', cell: ({ name }) => name.replaceAll('_', ' ') },
  {
    header: 'Passed',
    cell: ({ ok }) => (
      <Status look={ok === null ? NOT_LOOKED_AT : ok ? PASSED : FAILED} />
    ),
  },
  { header: 'Measured', align: 'right', cell: measured },
  {
    header: 'Summary',
    cell: ({ text }) => (text === '' ? '–' : text),
    wrap: true,
  },
];

export function CheckPanel({ check }: { check: HealthCheck | null }) {
  if (check === null) {
    return (
      <Panel title="Last health check">
        <EmptyState icon="eye" title="Not checked yet">
          A device is checked before its first job: a round trip, a push that is
          hashed, its self-test, its temperature and charge, and its free space.
          It takes about half a minute.
        </EmptyState>
      </Panel>
    );
  }
  return (
    <Panel
      title="Last health check"
      flush
      mark={<Status look={check.ok ? PASSED : FAILED} />}
      note={
        <>
          <TimeAgo at={check.at} />, took {formatDuration(check.took_ms / 1000)}
          . {failureText(check)}
        </>
      }
    >
      <DataTable
        label="Steps of the check"
        columns={COLUMNS}
        rows={check.steps}
        rowKey={({ name }) => name}
      />
      {check.raw.length > 0 && (
        <details className={classes.raw}>
          <summary>Command output</summary>
          <CommandOutputs
            label="Output of the health check"
            texts={check.raw}
          />
        </details>
      )}
    </Panel>
  );
}

/** Returns the failure in words; a failure of the infrastructure does not count against the device. */
function failureText({ ok, infrastructure }: HealthCheck): string {
  if (ok) return '';
  return infrastructure
    ? 'The device or its connection failed: this counts towards quarantine.'
    : 'A temporary state failed: this does not count towards quarantine.';
}
