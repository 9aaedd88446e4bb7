/** Shows runs as rows: suite, target and outcome. */
import { Fragment } from 'react';

import { launchesOf } from '../api/runs';
import type { Run } from '../api/types';
import { shortId } from '../lib/ids';
import { AppLink } from './app-link';
import { DataTable, type Column } from './data-table';
import {
  DEMONSTRATION,
  hasNoVerdict,
  OUTCOMES,
  TRIGGER_LABELS,
} from './state-badges';
import { Status } from './status';
import { TimeAgo } from './time-ago';
import { TargetName } from './target-name';
import classes from './table.module.css';

/** Returns whether an outcome is shown with its reason, because its label does not say what to do. */
function needsReason(outcome: Run['outcome']): boolean {
  return outcome === 'inconclusive' || hasNoVerdict(outcome);
}

export function RunOutcome({ run }: { run: Run }) {
  return (
    <>
      <div className={classes.outcome}>
        <Status look={OUTCOMES[run.outcome]} title={run.reason ?? undefined} />
        {run.demonstration && (
          <Status
            look={DEMONSTRATION}
            title="A knob made this run slower on purpose."
          />
        )}
      </div>
      {needsReason(run.outcome) && run.reason !== null && (
        <div className={classes.why} title={run.reason}>
          {run.reason}
        </div>
      )}
    </>
  );
}

const BRIEF: readonly Column<Run>[] = [
  { header: 'Outcome', cell: (run) => <RunOutcome run={run} /> },
  {
    header: 'Run',
    cell: (run) => (
      <AppLink to="/runs/$runId" params={{ runId: run.id }}>
        {run.suite} <span className="pl-mono">{shortId(run.id)}</span>
      </AppLink>
    ),
  },
  { header: 'Targets', cell: (run) => <Targets run={run} /> },
  {
    header: 'Requested',
    cell: (run) => (
      <span>
        {TRIGGER_LABELS[run.trigger]}, <TimeAgo at={run.created_at} />
      </span>
    ),
  },
];

const FULL: readonly Column<Run>[] = [
  ...BRIEF,
  {
    header: 'Commit',
    cell: (run) => (
      <span className="pl-mono" title={run.branch ?? undefined}>
        {run.commit.slice(0, 10)}
      </span>
    ),
  },
  {
    header: 'Launches × rounds',
    cell: (run) => `${launchesOf(run)} × ${run.rounds}`,
    align: 'right',
  },
  { header: 'Requested by', cell: (run) => run.created_by },
];

function Targets({ run }: { run: Run }) {
  const names = new Map(
    run.jobs.map(({ target_id: id, target_name: name }) => [id, name]),
  );
  if (names.size === 0) return <>–</>;
  return [...names].map(([id, name], index) => (
    <Fragment key={id}>
      {index > 0 && ', '}
      <TargetName id={id} name={name} />
    </Fragment>
  ));
}

export function RunsTable({
  label,
  runs,
  brief = false,
}: {
  label: string;
  runs: readonly Run[];
  brief?: boolean;
}) {
  return (
    <DataTable
      label={label}
      columns={brief ? BRIEF : FULL}
      rows={runs}
      rowKey={(run) => run.id}
    />
  );
}
