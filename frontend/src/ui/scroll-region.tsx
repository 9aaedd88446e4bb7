/**
 * A box that scrolls sideways, with a mark at each edge beyond which there is more: a narrow screen cuts a table
 * where nothing shows it, and phones draw no scroll bar.
 */
import { useEffect, useRef, useState, type ReactNode } from 'react';

import { Icon } from './icon';
import classes from './scroll-region.module.css';

export interface ScrollRegionProps {
  label: string;
  className?: string | undefined;
  children: ReactNode;
}

interface Hidden {
  before: boolean;
  after: boolean;
}

const NOTHING: Hidden = { before: false, after: false };

/** Widths are rounded to whole pixels, so a box may seem to hide one pixel. */
const ROUNDING_PX = 1;

function hiddenOf({ scrollLeft, scrollWidth, clientWidth }: Element): Hidden {
  return {
    before: scrollLeft > ROUNDING_PX,
    after: scrollWidth - clientWidth - scrollLeft > ROUNDING_PX,
  };
}

export function ScrollRegion({
  label,
  className,
  children,
}: ScrollRegionProps) {
  const box = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState(NOTHING);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = () =>
      setHidden((known) => {
        const now = hiddenOf(element);
        return known.before === now.before && known.after === now.after
          ? known
          : now;
      });
    look();
    element.addEventListener('scroll', look, { passive: true });
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    for (const child of element.children) sizes.observe(child);
    return () => {
      element.removeEventListener('scroll', look);
      sizes.disconnect();
    };
  }, []);
  return (
    <div className={classes.frame}>
      {/* A region that scrolls must be reachable by keyboard (WCAG 2.1.1). */}
      <div
        ref={box}
        className={
          className === undefined ? classes.box : `${classes.box} ${className}`
        }
        role="region"
        aria-label={label}
        tabIndex={0}
      >
        {children}
      </div>
      {hidden.before && <Edge side="before" />}
      {hidden.after && <Edge side="after" />}
    </div>
  );
}

/** Marks an edge; hidden from screen readers, which read the whole table. */
function Edge({ side }: { side: keyof Hidden }) {
  return (
    <div
      aria-hidden="true"
      data-more={side}
      className={`${classes.edge} ${classes[side]}`}
    >
      <Icon name="chevronDown" size={16} />
    </div>
  );
}
