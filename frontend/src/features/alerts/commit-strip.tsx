/**
 * Draws the commits from base to head as a strip, oldest first. Each cell says what is known of its commit by
 * colour, by sign and in words; a frame marks commits that were measured.
 */
import type { Bisection, BisectionStep } from '../../api/types';
import tones from '../../ui/tones.module.css';
import classes from './bisect.module.css';

type CommitState =
  'good' | 'bad' | 'open' | 'unsure' | 'unmeasured' | 'busy' | 'culprit';

const SIGNS: Record<CommitState, string> = {
  good: '✓',
  bad: '✗',
  open: '·',
  unsure: '?',
  unmeasured: '–',
  busy: '…',
  culprit: '✗',
};
const WORDS: Record<CommitState, string> = {
  good: 'pass',
  bad: 'fail',
  open: 'possible',
  unsure: 'inconclusive',
  unmeasured: 'job failed',
  busy: 'measuring',
  culprit: 'likely culprit',
};

/** Colours of the states; the culprit has its own. */
const CLASSES: Record<CommitState, string | undefined> = {
  good: tones.good,
  bad: tones.bad,
  open: tones.quiet,
  unsure: tones.unsure,
  unmeasured: tones.quiet,
  busy: tones.busy,
  culprit: classes.culprit,
};

function commitStateOf(
  bisection: Bisection,
  index: number,
  step: BisectionStep | undefined,
): CommitState {
  if (
    bisection.culprit !== null &&
    bisection.culprit.commit === bisection.commits[index]?.commit
  ) {
    return 'culprit';
  }
  if (step !== undefined && step.verdict === null) return 'busy';
  if (step?.verdict === 'inconclusive') return 'unsure';
  if (step?.verdict === 'failed' || step?.verdict === 'skipped')
    return 'unmeasured';
  if (index <= bisection.good) return 'good';
  return index >= bisection.bad ? 'bad' : 'open';
}

export function CommitStrip({ bisection }: { bisection: Bisection }) {
  const last = bisection.commits.length - 1;
  const stepOf = (index: number) =>
    bisection.steps.findLast(
      (step) => step.index === index || (step.index === null && index === last),
    );
  return (
    <>
      <ol className={classes.strip} aria-label="Commits, oldest first">
        {bisection.base_commit !== null && (
          <Cell
            known="good"
            measured
            title={`base ${bisection.base_commit.slice(0, 10)}: ${WORDS.good}`}
            word="base"
          />
        )}
        {bisection.commits.map((commit, index) => {
          const step = stepOf(index);
          const known = commitStateOf(bisection, index, step);
          const who = `“${commit.subject}” by ${commit.author}`;
          const title = `${commit.commit.slice(0, 10)} ${who}: ${WORDS[known]}`;
          return (
            <Cell
              key={commit.commit}
              known={known}
              measured={step !== undefined}
              title={title}
            />
          );
        })}
      </ol>
      <p className={classes.legend}>
        {(['good', 'bad', 'open', 'unsure'] as const).map((known) => (
          <span key={known}>
            <i
              className={`${classes.cell} ${CLASSES[known]}`}
              aria-hidden="true"
            >
              {SIGNS[known]}
            </i>{' '}
            {WORDS[known]}
          </span>
        ))}
        <span>
          <i
            className={`${classes.cell} ${CLASSES.open} ${classes.measured}`}
            aria-hidden="true"
          />{' '}
          framed: measured
        </span>
      </p>
    </>
  );
}

interface CellProps {
  known: CommitState;
  measured: boolean;
  title: string;
  word?: string;
}

function Cell({ known, measured, title, word }: CellProps) {
  return (
    <li
      className={`${classes.cell} ${CLASSES[known]} ${measured ? classes.measured : ''}`}
      title={title}
    >
      <span aria-hidden="true">{word ?? SIGNS[known]}</span>
      <span className="pl-visually-hidden">{title}</span>
    </li>
  );
}
