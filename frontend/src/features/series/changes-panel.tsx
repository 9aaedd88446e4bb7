/**
 * Lists every change of the level: its sentence and evidence, its location, the reason for its state, and its alert.
 */
import type { Change, SeriesPage } from '../../api/types';
import { formatDate } from '../../lib/times';
import { formatFigure } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { CAUSE_LABELS, changeBadge } from '../../ui/change-badges';
import { DataTable, type Column } from '../../ui/data-table';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { labelChanges, type LetteredChange } from './history-model';
import classes from './series.module.css';

export function ChangesPanel({ page }: { page: SeriesPage }) {
  const rows = labelChanges(page).toReversed();
  if (rows.length === 0) {
    return (
      <Panel title="Changes">
        <EmptyState
          icon="check"
          title={page.evaluated_at === null ? 'Not analysed yet' : 'No changes'}
        >
          {page.evaluated_at === null
            ? 'Detection looks at a series whenever a run adds a point; a change needs points on both sides.'
            : 'The level stayed within the scatter of single points.'}
        </EmptyState>
      </Panel>
    );
  }
  return (
    <Panel
      title="Changes"
      flush
      about="Letters as in the chart, effects with 99 % intervals."
    >
      <DataTable
        label="Changes"
        rows={rows}
        rowKey={({ change }) => change.id}
        columns={COLUMNS}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<LetteredChange>[] = [
  { header: '', cell: ({ letter }) => <strong>{letter}</strong> },
  {
    header: 'State',
    cell: ({ change }) => <Status look={changeBadge(change)} />,
  },
  {
    header: 'Summary',
    cell: ({ change }) => <Words change={change} />,
    wrap: true,
  },
  { header: 'Since', cell: ({ change }) => formatDate(change.at) },
  { header: 'Between', cell: ({ change }) => <Between change={change} /> },
  {
    header: 'Cause',
    cell: ({ change }) => <Cause change={change} />,
    wrap: true,
  },
  {
    header: 'Alert',
    cell: ({ change }) =>
      change.alert_id === null ? (
        'none'
      ) : (
        <AppLink to="/alerts/$alertId" params={{ alertId: change.alert_id }}>
          Open alert
        </AppLink>
      ),
  },
];

function Words({ change }: { change: Change }) {
  return (
    <>
      {change.words}
      <div className={classes.quiet}>
        {change.interval_words}; {change.n_before} points before,{' '}
        {change.n_after} after
      </div>
      <details className={classes.evidence}>
        <summary>Evidence</summary>
        <ul>
          {change.filters.map(({ name, value, limit, passed }) => (
            <li key={name}>
              {name.replaceAll('_', ' ')}:{' '}
              {value === null ? 'unbounded' : formatFigure(value)}, limit{' '}
              {formatFigure(limit)} – {passed ? 'holds' : 'does not hold'}
            </li>
          ))}
          <li>Method: {change.method}</li>
          <li>
            Found{' '}
            {change.evaluations === 1
              ? 'once'
              : `${change.evaluations} times in a row`}
            , first on {formatDate(change.found_at)}
          </li>
        </ul>
      </details>
    </>
  );
}

/** Names the two commits of a change, with a link to their comparison. */
function Between({ change }: { change: Change }) {
  return (
    <AppLink
      to="/compare"
      search={{ base: change.before_commit, head: change.commit }}
      className="pl-mono"
      aria-label={`Compare ${change.before_commit.slice(0, 12)} with ${change.commit.slice(0, 12)}`}
    >
      {change.before_commit.slice(0, 10)} → {change.commit.slice(0, 10)}
    </AppLink>
  );
}

function Cause({ change: { cause, cause_text: text } }: { change: Change }) {
  if (cause === null) return <>not known yet</>;
  return (
    <>
      {CAUSE_LABELS[cause]}
      {text !== null && <div className={classes.quiet}>{text}</div>}
    </>
  );
}
