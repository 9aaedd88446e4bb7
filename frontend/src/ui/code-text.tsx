/** Shows a sentence of the server, whose commands stand between backticks. */
import { Fragment } from 'react';

export function CodeText({ text }: { text: string }) {
  return (
    <>
      {text.split('`').map((part, index) => (
        // The parts of a sentence never change their place.
        // oxlint-disable-next-line react/no-array-index-key
        <Fragment key={index}>
          {index % 2 === 1 ? <code className="pl-mono">{part}</code> : part}
        </Fragment>
      ))}
    </>
  );
}
