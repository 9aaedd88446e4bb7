/** What a run lacks, one entry per reason: what is missing together is said once, and opened to be listed. */
import type { Completeness, MissingCase, MissingGroup } from '../../api/types';
import { paramsKey, paramsLabel } from '../../lib/params';
import { formatInteger } from '../../lib/units';
import { DataTable, type Column } from '../../ui/data-table';
import { Icon } from '../../ui/icon';
import { TargetName } from '../../ui/target-name';
import tones from '../../ui/tones.module.css';
import classes from './missing-groups.module.css';

/** Nothing broke: there was no time, no agent or no wish. */
const QUIET: ReadonlySet<MissingCase['reason']> = new Set([
  'pending',
  'cancelled',
  'expired',
  'skipped',
]);

const COLUMNS: readonly Column<MissingCase>[] = [
  { header: 'Benchmark', cell: ({ benchmark }) => benchmark },
  { header: 'Arm', cell: ({ arm }) => arm },
  { header: 'Params', cell: ({ params }) => paramsLabel(params) },
  {
    header: 'Target',
    cell: ({ target_id: id, target_name: name }) => (
      <TargetName id={id} name={name} />
    ),
  },
];

export function MissingGroups({
  answer: { missing, missing_groups: groups },
}: {
  answer: Completeness;
}) {
  return (
    <ul className={classes.groups} aria-label="Missing cases">
      {groups.map((group) => (
        <Group
          key={`${group.reason} ${group.text}`}
          group={group}
          cases={missing.filter(
            ({ reason, text }) =>
              reason === group.reason && text === group.text,
          )}
        />
      ))}
    </ul>
  );
}

function Group({
  group,
  cases,
}: {
  group: MissingGroup;
  cases: readonly MissingCase[];
}) {
  const quiet = QUIET.has(group.reason);
  return (
    <li>
      <details>
        <summary>
          <span
            className={`${classes.words} ${quiet ? tones.quiet : tones.bad}`}
          >
            <Icon name={quiet ? 'muted' : 'cross'} size={14} />
            {group.words}
          </span>
          <span className={classes.where}>
            {group.targets.map(({ id, name }) => (
              <TargetName key={id} id={id} name={name} link={false} />
            ))}
          </span>
          <span className={classes.text}>{group.text}</span>
        </summary>
        {cases.length < group.count && (
          <p className={classes.cut}>
            The first {formatInteger(cases.length)} of{' '}
            {formatInteger(group.count)}
          </p>
        )}
        <DataTable
          label={`Cases of: ${group.words}`}
          rows={cases}
          rowKey={({ job_id: job, benchmark, arm, params }) =>
            [job, benchmark, arm, paramsKey(params)].join('|')
          }
          columns={COLUMNS}
        />
      </details>
    </li>
  );
}
