/** Shows the selected point in full, with links to its run and to a comparison with the previous run. */
import type { SeriesPage, SeriesPoint } from '../../api/types';
import { shortId } from '../../lib/ids';
import { formatDateTime } from '../../lib/times';
import { formatInteger } from '../../lib/units';
import { AppLink } from '../../ui/app-link';
import { Facts } from '../../ui/panel';
import { Status } from '../../ui/status';
import { unitAt, valueText } from './history-model';
import classes from './series.module.css';

export interface PointCardProps {
  page: SeriesPage;
  /** Points in the chart, oldest first. */
  points: readonly SeriesPoint[];
  point: SeriesPoint;
}

export function PointCard({ page, points, point }: PointCardProps) {
  const index = points.findIndex(({ job_id: id }) => id === point.job_id);
  const before = points
    .slice(0, Math.max(0, index))
    .findLast(({ excluded }) => excluded === null);
  const environment = page.environments[point.environment];
  return (
    <section className={classes.card} aria-label="Selected point">
      <div className={classes.cardHead}>
        <h4>{formatDateTime(point.at)}</h4>
        {point.excluded !== null && (
          <Status
            look={{ tone: 'unsure', icon: 'warning', word: 'excluded' }}
          />
        )}
      </div>
      {point.excluded !== null && (
        <p className={classes.reason}>{point.excluded}</p>
      )}
      <Facts
        items={[
          [
            'Median (99 % interval)',
            valueText(point, unitAt(page, point.environment)),
          ],
          [
            'Samples',
            `${formatInteger(point.n)} in ${point.launches} launches`,
          ],
          [
            'Commit',
            <span key="c" className="pl-mono">
              {point.commit.slice(0, 12)}
            </span>,
          ],
          [
            'Run',
            <AppLink
              key="r"
              to="/runs/$runId"
              params={{ runId: point.run_id }}
              search={{ job: point.job_id }}
              className="pl-mono"
            >
              {shortId(point.run_id)}
            </AppLink>,
          ],
          [
            'Environment',
            environment === undefined
              ? '–'
              : (environment.change ??
                `the first (${environment.fingerprint.slice(0, 8)})`),
          ],
          [
            'Artifact',
            <span key="a" className="pl-mono">
              {point.artifact_hash?.slice(0, 12) ?? 'unknown'}
            </span>,
          ],
        ]}
      />
      {before !== undefined && (
        <NextSteps page={page} before={before} point={point} />
      )}
    </section>
  );
}

interface NextStepsProps extends Omit<PointCardProps, 'points'> {
  /** The previous point that is not excluded. */
  before: SeriesPoint;
}

function NextSteps({ page, before, point }: NextStepsProps) {
  return (
    <p className={classes.ways}>
      <AppLink
        to="/compare"
        search={{
          base: before.run_id,
          head: point.run_id,
          target: page.series.target_id,
        }}
      >
        Compare with previous run
      </AppLink>
      {before.commit !== point.commit && !page.series.imported && (
        <AppLink
          to="/runs/new"
          search={{
            suite: page.series.suite,
            base: before.commit,
            commit: point.commit,
          }}
        >
          Start an A/B run of both commits
        </AppLink>
      )}
    </p>
  );
}
