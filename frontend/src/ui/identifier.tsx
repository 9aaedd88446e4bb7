/** A long name that a narrow table may break after underscores only. */
import { Fragment } from 'react';

export function Identifier({ name }: { name: string }) {
  const [first, ...rest] = name.split('_');
  return (
    <>
      {first}
      {rest.map((part, index) => (
        // The parts of one name neither move nor change.
        // oxlint-disable-next-line no-array-index-key
        <Fragment key={index}>
          _<wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}
