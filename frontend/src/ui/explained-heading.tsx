/**
 * A heading with an (i) that opens its explanation in the flow of the page, not in a popover: it cannot be clipped
 * on a phone, and keyboards and screen readers reach it like any other text.
 */
import { ActionIcon } from '@mantine/core';
import { useId, useState, type ReactNode } from 'react';

import { Icon } from './icon';
import classes from './layout.module.css';

export interface ExplainedHeadingProps {
  /** Names the button: "About alerts". */
  title: string;
  about: string | undefined;
  /** The heading and the elements beside it. */
  children: ReactNode;
}

export function ExplainedHeading({
  title,
  about,
  children,
}: ExplainedHeadingProps) {
  const id = useId();
  const [opened, setOpened] = useState(false);
  return (
    <>
      <div className={classes.heading}>
        {children}
        {about !== undefined && (
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            aria-label={`About ${title}`}
            aria-expanded={opened}
            aria-controls={id}
            onClick={() => setOpened(!opened)}
          >
            <Icon name="info" size={16} />
          </ActionIcon>
        )}
      </div>
      {about !== undefined && (
        <p id={id} className={classes.about} hidden={!opened}>
          {about}
        </p>
      )}
    </>
  );
}
