/** The matrix: benchmarks as rows, targets as columns, with header cells for screen readers. */
import type { ReactNode } from 'react';

import type {
  Matrix,
  MatrixCell,
  MatrixRow,
  MatrixUnmeasured,
} from '../../api/types';
import { formatPercent, formatValue } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { changeBadge, shortChangeText } from '../../ui/change-badges';
import { OUTCOMES, VERDICTS } from '../../ui/state-badges';
import { ScrollRegion } from '../../ui/scroll-region';
import { Status } from '../../ui/status';
import { TargetName } from '../../ui/target-name';
import { TimeAgo } from '../../ui/time-ago';
import classes from './matrix.module.css';

export function MatrixTable({ matrix }: { matrix: Matrix }) {
  return (
    <ScrollRegion label="Matrix">
      <table className={classes.table}>
        <caption className="pl-visually-hidden">
          Matrix of {matrix.suite}
        </caption>
        <thead>
          <tr>
            <th scope="col">Benchmark</th>
            {matrix.targets.map(({ id, name, kind, imported }) => (
              <th key={id} scope="col">
                <TargetName link id={id} name={name} />{' '}
                <span className={classes.quiet}>
                  {imported ? 'imported' : kind}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {matrix.rows.map((row) => (
            <tr
              key={row.benchmark}
              className={row.declared ? undefined : classes.gone}
            >
              <RowHead row={row} suite={matrix.suite} />
              {matrix.targets.map(({ id, imported }) => (
                <td key={id}>
                  <Cell
                    imported={imported}
                    cell={row.cells.find(
                      ({ target_id: target }) => target === id,
                    )}
                  >
                    <UnmeasuredNote
                      of={row.unmeasured.find(
                        ({ target_id: target }) => target === id,
                      )}
                    />
                  </Cell>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function RowHead({ row, suite }: { row: MatrixRow; suite: string }) {
  return (
    <th scope="row">
      <AppLink to="/series" search={{ suite, benchmark: row.benchmark }}>
        {row.title}
      </AppLink>
      {row.retired !== null ? (
        <div className={classes.quiet}>retired: {row.retired}</div>
      ) : (
        !row.declared && <div className={classes.quiet}>no longer declared</div>
      )}
    </th>
  );
}

/** Mark for a newest job without a verdict, with the reason: the value beside it is older, or absent. */
function UnmeasuredNote({ of }: { of: MatrixUnmeasured | undefined }) {
  if (of === undefined) return null;
  const look = OUTCOMES[of.outcome];
  return (
    <>
      <div className={classes.unmeasured}>
        <Status
          look={{ ...look, word: `last run: ${look.word}` }}
          title={of.words}
        />
        <AppLink
          to="/runs/$runId"
          params={{ runId: of.run_id }}
          search={{ job: of.job_id }}
        >
          <TimeAgo at={of.at} />
        </AppLink>
      </div>
      <div className={classes.why}>{of.words}</div>
    </>
  );
}

function noiseFloorText(mde: number | null): string {
  return mde === null
    ? 'noise floor not measured'
    : `noise floor ${formatPercent(mde)}`;
}

function Cell({
  cell,
  imported,
  children,
}: {
  cell: MatrixCell | undefined;
  /** True if no agent measures it, so that no A/A run can tell its noise. */
  imported: boolean;
  children: ReactNode;
}) {
  if (cell === undefined) {
    return (
      <div className={classes.cell}>
        <span className={classes.quiet}>not measured</span>
        {children}
      </div>
    );
  }
  const { change, verdict } = cell;
  return (
    <div className={classes.cell}>
      <AppLink
        to="/series/$seriesId"
        params={{ seriesId: cell.series_id }}
        className={classes.value}
      >
        {formatValue(cell.value, cell.unit)}
      </AppLink>
      <div className={classes.quiet}>{cell.of}</div>
      <div className={classes.marks}>
        {verdict !== null && (
          <Status
            look={{
              ...VERDICTS[verdict],
              word: `arms: ${VERDICTS[verdict].word}`,
            }}
            title={cell.verdict_words}
          />
        )}
        {change === null ? (
          <span className={classes.quiet}>no change</span>
        ) : (
          <Status
            look={{ ...changeBadge(change), word: shortChangeText(change) }}
            title={`${change.words} (${changeBadge(change).word})`}
          />
        )}
        {cell.excluded !== null && (
          <Status
            look={{ tone: 'unsure', icon: 'muted', word: 'excluded' }}
            title={cell.excluded}
          />
        )}
        {cell.stale && (
          <Status
            look={{
              tone: 'unsure',
              icon: 'clock',
              word: cell.stale_words ?? 'stale',
            }}
          />
        )}
      </div>
      <div className={classes.quiet}>
        {!imported && `${noiseFloorText(cell.mde)} · `}
        <TimeAgo at={cell.at} />
        {cell.series > 1 && ` · ${cell.series} series`}
      </div>
      {children}
    </div>
  );
}
