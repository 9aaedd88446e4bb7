/** Shows why a job failed: its cause, the first error of its output with the lines around it, and what to do. */
import { Alert, Group } from '@mantine/core';

import type { Failure, Job } from '../../api/types';
import { withoutAnsi } from '../../lib/ansi';
import { Icon } from '../../ui/icon';
import classes from './failure-excerpt.module.css';
import { OpenLogButton } from './log-viewer';

/** Length of the text searched in the log: the excerpt may have shortened the rest of the line. */
const FIND_CHARACTERS = 60;

export function FailureExcerpt({
  job,
  failure,
}: {
  job: Job;
  failure: Failure;
}) {
  return (
    <Alert
      variant="outline"
      color="red"
      icon={<Icon name="warning" />}
      title={failure.title}
      role="alert"
      mt="sm"
    >
      {failure.sentence !== '' && (
        <p className={classes.sentence}>{withoutAnsi(failure.sentence)}</p>
      )}
      {failure.excerpt.length > 0 && <Excerpt failure={failure} />}
      <p className={classes.advice}>{failure.advice}</p>
      {failure.excerpt.length > 0 && (
        <Group gap="xs" mt="xs">
          <OpenLogButton job={job} find={textToFind(failure)} />
        </Group>
      )}
    </Alert>
  );
}

function textToFind({ excerpt }: Failure): string {
  const line = excerpt.find(({ is_error: isError }) => isError)?.text ?? '';
  // The excerpt has spaces for tabs, so only the text before a longer gap is the same in the log.
  return (withoutAnsi(line).trim().split(/ {2,}/)[0] ?? '').slice(
    0,
    FIND_CHARACTERS,
  );
}

function Excerpt({
  failure: { excerpt, is_recognised: isRecognised },
}: {
  failure: Failure;
}) {
  const label = isRecognised ? 'The first error' : 'The end of the output';
  return (
    <>
      {!isRecognised && (
        <p className={classes.advice}>
          The output has no known error. It ends with:
        </p>
      )}
      <pre className={classes.excerpt} aria-label={label} role="region">
        {excerpt.map(({ text, is_error: isError }, at) => (
          // Lines of one excerpt never change their place.
          // oxlint-disable-next-line react/no-array-index-key
          <span key={at} className={isError ? classes.error : classes.line}>
            {isError ? <strong>{withoutAnsi(text)}</strong> : withoutAnsi(text)}
            {'\n'}
          </span>
        ))}
      </pre>
    </>
  );
}
