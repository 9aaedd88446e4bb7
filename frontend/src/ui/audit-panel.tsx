/**
 * Shows the audit findings of a benchmark's groups: each defect by name and in words, the verdict by means, and
 * the true verdict. The pages of arms and of a run share it; the server computes everything in it.
 */
import type { Audit, Comparison } from '../api/types';
import { paramsKey, paramsLabel } from '../lib/params';
import classes from './audit-panel.module.css';
import { DataTable } from './data-table';
import { Identifier } from './identifier';
import { VERDICTS } from './state-badges';
import { Panel } from './panel';
import { Status } from './status';

export interface AuditPanelProps {
  audits: readonly Audit[];
  comparisons: readonly Comparison[];
}

/** The look of decisive defects, which make verdicts inconclusive. */
const DECISIVE = { tone: 'unsure', icon: 'warning' } as const;
const NOTED = { tone: 'quiet', icon: 'info' } as const;

/** Labels of the defects; an unknown defect is shown by its name. */
const DEFECT_NAMES: Readonly<Record<string, string>> = {
  order_unbalanced: 'order unbalanced',
  too_few: 'too few',
  warmup_in_timer: 'warm-up in the timer',
  preparation_in_timer: 'preparation in the timer',
  unequal_work: 'unequal work',
  unsteady: 'unsteady',
};

export function defectName(name: string): string {
  return DEFECT_NAMES[name] ?? name.replaceAll('_', ' ');
}

export function AuditPanel({ audits, comparisons }: AuditPanelProps) {
  const auditsWithFindings = audits.filter(
    ({ findings }) => findings.length > 0,
  );
  if (auditsWithFindings.length === 0) return null;
  const defective = auditsWithFindings.filter(({ findings }) =>
    findings.some(({ decisive }) => decisive),
  );
  const noted = auditsWithFindings.filter(
    (audit) => !defective.includes(audit),
  );
  return (
    <Panel
      title="Audit of the measurement"
      note={
        defective.length > 0
          ? 'These groups have measurement defects, so they give no verdicts.'
          : 'No defect affects a verdict.'
      }
    >
      {defective.length > 0 && (
        <div className={classes.groups}>
          {defective.map((audit) => (
            <Group
              key={groupKey(audit)}
              audit={audit}
              audits={auditsWithFindings}
              comparisons={comparisons}
            />
          ))}
        </div>
      )}
      {noted.length > 0 && <Noted audits={noted} />}
    </Panel>
  );
}

function groupKey({ benchmark, params }: Audit): string {
  return `${benchmark}|${paramsKey(params)}`;
}

/** Shows defects that do not change a verdict; they are folded, because they can fill a page. */
function Noted({ audits }: { audits: readonly Audit[] }) {
  return (
    <details className={classes.noted}>
      <summary>
        Notes on {audits.length} {audits.length === 1 ? 'group' : 'groups'}, no
        effect on verdicts
      </summary>
      <DataTable
        label="Audit notes"
        rows={audits.flatMap((audit) =>
          audit.findings.map((finding) => Object.assign({ audit }, finding)),
        )}
        rowKey={({ audit, name, arms }) =>
          `${groupKey(audit)}|${name}|${arms.join()}`
        }
        columns={[
          { header: 'Benchmark', cell: ({ audit }) => audit.benchmark },
          { header: 'Params', cell: ({ audit }) => paramsLabel(audit.params) },
          {
            header: 'Note',
            cell: ({ name }) => (
              <Status look={{ ...NOTED, word: defectName(name) }} />
            ),
          },
          { header: 'Summary', cell: ({ text }) => text, wrap: true },
        ]}
      />
    </details>
  );
}

/** Groups findings by defect, so that a defect of several arms is named once. */
function groupByName(findings: Audit['findings']) {
  return [...new Set(findings.map(({ name }) => name))].map((name) => {
    const own = findings.filter((finding) => finding.name === name);
    return {
      name,
      decisive: own.some(({ decisive }) => decisive),
      texts: own.map(({ text }) => text),
    };
  });
}

/** Returns the same point without defects in another protocol: params that are numbers are equal. */
function findCleanSiblings(
  audit: Audit,
  audits: readonly Audit[],
  comparisons: readonly Comparison[],
): Comparison[] {
  const faulty = new Set(
    audits
      .filter(
        (other) =>
          other.benchmark === audit.benchmark &&
          other.findings.some(({ decisive }) => decisive),
      )
      .map(({ params }) => paramsKey(params)),
  );
  return comparisons.filter(
    (row) =>
      row.benchmark === audit.benchmark &&
      !faulty.has(paramsKey(row.params)) &&
      Object.entries(audit.params).every(
        ([name, value]) =>
          typeof value === 'string' || row.params[name] === value,
      ),
  );
}

function Group({
  audit,
  audits,
  comparisons,
}: AuditPanelProps & { audit: Audit }) {
  const key = paramsKey(audit.params);
  const own = comparisons.filter(
    (row) => row.benchmark === audit.benchmark && paramsKey(row.params) === key,
  );
  const clean = findCleanSiblings(audit, audits, comparisons);
  return (
    <article
      className={classes.group}
      aria-label={`${audit.benchmark} at ${paramsLabel(audit.params)}`}
    >
      <h3 className={classes.title}>
        {audit.benchmark} <span>at {paramsLabel(audit.params)}</span>
      </h3>
      <ul className={classes.defects}>
        {groupByName(audit.findings).map(({ name, decisive, texts }) => (
          <li key={name}>
            <Status
              look={{
                ...(decisive ? DECISIVE : NOTED),
                word: defectName(name),
              }}
              title={name}
            />
            <div>
              {texts.map((text) => (
                <div key={text}>{text}</div>
              ))}
            </div>
          </li>
        ))}
      </ul>
      <dl className={classes.verdicts}>
        {audit.naive !== null && (
          <div>
            <dt>From the means alone</dt>
            <dd className={classes.naive}>{audit.naive}</dd>
          </div>
        )}
        <Verdicts title="From these samples" rows={own} />
        <Verdicts title="The same work without these defects" rows={clean} />
      </dl>
    </article>
  );
}

function Verdicts({
  title,
  rows,
}: {
  title: string;
  rows: readonly Comparison[];
}) {
  if (rows.length === 0) return null;
  return (
    <div>
      <dt>{title}</dt>
      {rows.map((row) => (
        <dd
          key={`${row.arm}|${row.metric}|${paramsKey(row.params)}|${row.job_id ?? ''}`}
        >
          <Status look={VERDICTS[row.verdict]} /> <Identifier name={row.arm} />{' '}
          at {paramsLabel(row.params)}: {row.words}
        </dd>
      ))}
    </div>
  );
}
