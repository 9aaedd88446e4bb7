/**
 * Shows the suite's gates: required levels decide, stretch levels are aims. Invariant: a stretch level that is
 * not met never looks like a failure and is never hidden.
 */
import type { Gate } from '../../api/types';
import { paramsKey, paramsLabel } from '../../lib/params';
import { formatFigure, formatInteger, formatShare } from '../../lib/units';
import { DataTable, type Column } from '../../ui/data-table';
import { Identifier } from '../../ui/identifier';
import { VERDICTS } from '../../ui/state-badges';
import { Panel } from '../../ui/panel';
import { Status, type Badge } from '../../ui/status';
import { WaivedMark } from '../../ui/waived-mark';
import classes from './runs.module.css';

const STRETCH: Record<Gate['verdict'], Badge> = {
  pass: { tone: 'good', icon: 'check', word: 'met' },
  fail: { tone: 'quiet', icon: 'muted', word: 'not met' },
  inconclusive: { tone: 'quiet', icon: 'question', word: 'inconclusive' },
  not_applicable: VERDICTS.not_applicable,
};

function lookOf({ level, verdict }: Gate): Badge {
  return level === 'stretch' ? STRETCH[verdict] : VERDICTS[verdict];
}

/** Returns the value relative to the limit, e.g. `close, 73 %`, even if it is too uncertain for a verdict. */
function standingOf({ standing, reached }: Gate): string {
  if (standing === null) return '–';
  return reached === null ? standing : `${standing}, ${formatShare(reached)}`;
}

/** Returns the CPU features that a level requires or excludes, e.g. `avx512bw, no amx_tile`. */
function featuresOf({ requires }: Gate): string {
  return requires.map((name) => name.replace(/^!/, 'no ')).join(', ');
}

/** Returns whether a level is for other CPUs than the target's, as most levels are; such a level decides nothing. */
function isForOtherCpus({ requires, verdict }: Gate): boolean {
  return requires.length > 0 && verdict === 'not_applicable';
}

const countedLevels = (count: number) =>
  count === 1 ? '1 level' : `${formatInteger(count)} levels`;

const STANDING = 'Of the limit';

/** Returns the name that the suite gives a gate, or else what it limits, as the server's reasons do. */
export const gateName = ({ name, derived, statistic, metric }: Gate) =>
  name ?? derived ?? `${statistic} of ${metric}`;

const COLUMNS: readonly Column<Gate>[] = [
  {
    header: 'Verdict',
    cell: (gate) => (
      <>
        <Status look={lookOf(gate)} title={gate.reason} />
        <div className={classes.quiet}>{gate.level}</div>
        <WaivedMark waived={gate.waived} />
      </>
    ),
  },
  {
    header: 'Measurement',
    breaks: true,
    cell: (gate) => (
      <>
        <Identifier name={gate.benchmark} /> · <Identifier name={gate.arm} />
        <div className={classes.quiet}>{paramsLabel(gate.params)}</div>
      </>
    ),
  },
  {
    header: 'Limit',
    breaks: true,
    cell: (gate) => (
      <span title={gate.description ?? undefined}>
        {gate.name !== null && (
          <div>
            <Identifier name={gate.name} />
          </div>
        )}
        {gate.absolute && 'size of '}
        <Identifier
          name={gate.derived ?? `${gate.statistic} of ${gate.metric}`}
        />{' '}
        {gate.op} {formatFigure(gate.target)}
        {gate.requires.length > 0 && (
          <div className={classes.quiet}>CPUs with {featuresOf(gate)}</div>
        )}
      </span>
    ),
  },
  {
    header: 'Actual',
    cell: (gate) => (gate.actual === null ? '–' : formatFigure(gate.actual)),
    align: 'right',
  },
  { header: STANDING, cell: standingOf, align: 'right' },
];

/** Makes the column of reasons. A reason that the page shows above the tables for all rows is not repeated. */
function reasonColumn(saidElsewhere: ReadonlySet<string>): Column<Gate> {
  return {
    header: 'Reason',
    cell: ({ reason }) => (saidElsewhere.has(reason) ? 'see above' : reason),
    wrap: true,
  };
}

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
    ...gate.requires,
    paramsKey(gate.params),
  ].join('|');
}

function passedOf(gates: readonly Gate[], level: Gate['level']): string {
  const own = gates.filter(
    (gate) => gate.level === level && gate.verdict !== 'not_applicable',
  );
  return `${own.filter(({ verdict }) => verdict === 'pass').length} of ${own.length}`;
}

/** Returns a sentence such as `Required: 11 of 12 met. Stretch: 3 of 7 met.` */
function summary(gates: readonly Gate[]): string {
  const required = `Required: ${passedOf(gates, 'required')} met.`;
  if (gates.every(({ level }) => level === 'required')) return required;
  return `${required} Stretch: ${passedOf(gates, 'stretch')} met.`;
}

const LEVELS: readonly Gate['level'][] = ['required', 'stretch'];
const SEVERITY: readonly Gate['verdict'][] = [
  'fail',
  'inconclusive',
  'pass',
  'not_applicable',
];

/** Sorts required gates before stretch gates; within each, those that did not pass come first. */
function sorted(gates: readonly Gate[]): Gate[] {
  return gates.toSorted(
    (a, b) =>
      LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) ||
      SEVERITY.indexOf(a.verdict) - SEVERITY.indexOf(b.verdict),
  );
}

export function Gates({
  gates,
  saidElsewhere,
}: {
  gates: readonly Gate[];
  saidElsewhere: ReadonlySet<string>;
}) {
  if (gates.length === 0) return null;
  const stands = gates.some(
    ({ standing }) => standing !== null && standing !== undefined,
  );
  const columns = [
    ...COLUMNS.filter(({ header }) => stands || header !== STANDING),
    reasonColumn(saidElsewhere),
  ];
  const forOtherCpus = gates.filter(isForOtherCpus);
  const own = gates.filter((gate) => !isForOtherCpus(gate));
  return (
    <Panel title="Gates" flush note={summary(gates)}>
      {own.length > 0 && (
        <DataTable
          label="Gates"
          rows={sorted(own)}
          columns={columns}
          rowKey={gateKey}
        />
      )}
      {forOtherCpus.length > 0 && (
        <details className={classes.folded}>
          <summary>{countedLevels(forOtherCpus.length)} for other CPUs</summary>
          <DataTable
            label="Levels for other CPUs"
            rows={sorted(forOtherCpus)}
            columns={columns}
            rowKey={gateKey}
          />
        </details>
      )}
    </Panel>
  );
}
