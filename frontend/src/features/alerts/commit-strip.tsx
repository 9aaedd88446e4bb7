/**
 * Commits from the base to the head as a strip, oldest first. Each cell says what is known of its commit by
 * colour, by sign and in words; a frame marks what was measured itself.
 */
import type { Bisection, BisectionStep } from '../../api/types';
import tones from '../../ui/tones.module.css';
import classes from './bisect.module.css';

type Known =
  'good' | 'bad' | 'open' | 'unsure' | 'unmeasured' | 'busy' | 'culprit';

const SIGNS: Record<Known, string> = {
  good: '✓',
  bad: '✗',
  open: '·',
  unsure: '?',
  unmeasured: '–',
  busy: '…',
  culprit: '✗',
};
const WORDS: Record<Known, string> = {
  good: 'pass',
  bad: 'fail',
  open: 'may be the one',
  unsure: 'measured, and inconclusive',
  unmeasured: 'not measured: its job failed',
  busy: 'being measured',
  culprit: 'the commit to look at',
};

/** Colours are those of a state, but for the culprit, which stands out. */
const LOOKS: Record<Known, string | undefined> = {
  good: tones.good,
  bad: tones.bad,
  open: tones.quiet,
  unsure: tones.unsure,
  unmeasured: tones.quiet,
  busy: tones.busy,
  culprit: classes.culprit,
};

function knownOf(
  bisection: Bisection,
  index: number,
  step: BisectionStep | undefined,
): Known {
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
          const known = knownOf(bisection, index, step);
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
            <i className={`${classes.cell} ${LOOKS[known]}`} aria-hidden="true">
              {SIGNS[known]}
            </i>{' '}
            {WORDS[known]}
          </span>
        ))}
        <span>
          <i
            className={`${classes.cell} ${LOOKS.open} ${classes.measured}`}
            aria-hidden="true"
          />{' '}
          framed: measured itself
        </span>
      </p>
    </>
  );
}

interface CellProps {
  known: Known;
  measured: boolean;
  title: string;
  word?: string;
}

function Cell({ known, measured, title, word }: CellProps) {
  return (
    <li
      className={`${classes.cell} ${LOOKS[known]} ${measured ? classes.measured : ''}`}
      title={title}
    >
      <span aria-hidden="true">{word ?? SIGNS[known]}</span>
      <span className="pl-visually-hidden">{title}</span>
    </li>
  );
}
