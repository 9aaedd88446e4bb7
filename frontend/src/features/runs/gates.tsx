/**
 * What the suite demands: required levels decide, stretch levels are aims. Invariant: a stretch level that is
 * not met never looks like a failure, and is never hidden either.
 */
import type { Gate } from '../../api/types';
import { paramsKey, paramsLabel } from '../../lib/params';
import { formatFigure, formatShare } from '../../lib/units';
import { DataTable, type Column } from '../../ui/data-table';
import { Identifier } from '../../ui/identifier';
import { VERDICTS } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { Status, type Badge } from '../../ui/status';
import classes from './runs.module.css';

const STRETCH: Record<Gate['verdict'], Badge> = {
  pass: { tone: 'good', icon: 'check', word: 'met' },
  fail: { tone: 'quiet', icon: 'muted', word: 'not met' },
  inconclusive: { tone: 'quiet', icon: 'question', word: 'undecided' },
  not_applicable: VERDICTS.not_applicable,
};

function lookOf({ level, verdict }: Gate): Badge {
  return level === 'stretch' ? STRETCH[verdict] : VERDICTS[verdict];
}

/** `close, 73 %`: where the figure lies by itself, also where it is too uncertain for a verdict. */
function standingOf({ standing, reached }: Gate): string {
  if (standing === null) return '–';
  return reached === null ? standing : `${standing}, ${formatShare(reached)}`;
}

const STANDING = 'Of the level';

const COLUMNS: readonly Column<Gate>[] = [
  {
    header: 'Verdict',
    cell: (gate) => (
      <>
        <Status look={lookOf(gate)} title={gate.reason} />
        <div className={classes.quiet}>{gate.level}</div>
      </>
    ),
  },
  {
    header: 'Of',
    breaks: true,
    cell: (gate) => (
      <>
        <Identifier name={gate.benchmark} /> · <Identifier name={gate.arm} />
        <div className={classes.quiet}>{paramsLabel(gate.params)}</div>
      </>
    ),
  },
  {
    header: 'Must hold',
    breaks: true,
    cell: (gate) => (
      <span title={gate.description ?? undefined}>
        {gate.absolute && 'size of '}
        <Identifier
          name={gate.derived ?? `${gate.statistic} of ${gate.metric}`}
        />{' '}
        {gate.op} {formatFigure(gate.target)}
      </span>
    ),
  },
  {
    header: 'Actual',
    cell: (gate) => (gate.actual === null ? '–' : formatFigure(gate.actual)),
    align: 'right',
  },
  { header: STANDING, cell: standingOf, align: 'right' },
  { header: 'Reason', cell: (gate) => gate.reason, wrap: true },
];

function gateKey(gate: Gate): string {
  return [
    gate.name ?? '',
    gate.derived ?? '',
    gate.benchmark,
    gate.arm,
    gate.metric,
    gate.statistic,
    gate.op,
    gate.target,
    gate.level,
    paramsKey(gate.params),
  ].join('|');
}

function passedOf(gates: readonly Gate[], level: Gate['level']): string {
  const own = gates.filter(
    (gate) => gate.level === level && gate.verdict !== 'not_applicable',
  );
  return `${own.filter(({ verdict }) => verdict === 'pass').length} of ${own.length}`;
}

/** `Required: 11 of 12 hold. Stretch: 3 of 7 met; one that is not met fails nothing.` */
function summary(gates: readonly Gate[]): string {
  const required = `Required: ${passedOf(gates, 'required')} hold.`;
  if (gates.every(({ level }) => level === 'required')) return required;
  return `${required} Stretch: ${passedOf(gates, 'stretch')} met; one that is not met fails nothing.`;
}

const LEVELS: readonly Gate['level'][] = ['required', 'stretch'];
const SEVERITY: readonly Gate['verdict'][] = [
  'fail',
  'inconclusive',
  'pass',
  'not_applicable',
];

/** Required before stretch, and of each what did not pass first. */
function sorted(gates: readonly Gate[]): Gate[] {
  return gates.toSorted(
    (a, b) =>
      LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) ||
      SEVERITY.indexOf(a.verdict) - SEVERITY.indexOf(b.verdict),
  );
}

export function Gates({ gates }: { gates: readonly Gate[] }) {
  if (gates.length === 0) return null;
  const stands = gates.some(
    ({ standing }) => standing !== null && standing !== undefined,
  );
  const columns = COLUMNS.filter(({ header }) => stands || header !== STANDING);
  return (
    <Panel title="Gates" flush note={summary(gates)}>
      <DataTable
        label="Gates"
        rows={sorted(gates)}
        columns={columns}
        rowKey={gateKey}
      />
    </Panel>
  );
}
