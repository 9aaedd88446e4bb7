/** Legends as real lists for screen readers: plain, or with a switch for each series. */
import type { ReactNode } from 'react';

import classes from './charts.module.css';
import { MARKER_PATHS, seriesLook } from './palette';

/** Draws a sample of a series' line, which is decorative because the name is beside it. */
export function LineSample({ look }: { look: number }) {
  const { color, dash, marker } = seriesLook(look);
  return (
    <svg
      width="30"
      height="12"
      aria-hidden="true"
      focusable="false"
      style={{ flex: 'none' }}
    >
      <line
        x1="0"
        y1="6"
        x2="30"
        y2="6"
        stroke={color}
        strokeWidth="2.5"
        strokeDasharray={dash}
      />
      <path d={MARKER_PATHS[marker]} transform="translate(15 6)" fill={color} />
    </svg>
  );
}

export function Legend({ names }: { names: readonly string[] }) {
  const lines = names.map((name, look) => ({ name, look }));
  return (
    <ul className={classes.legend}>
      {lines.map(({ name, look }) => (
        <li key={name}>
          <LineSample look={look} />
          {name}
        </li>
      ))}
    </ul>
  );
}

export interface Switch {
  name: string;
  look: number;
  on: boolean;
  /** The reason why the series cannot be shown; its switch is disabled. */
  unavailable?: string | undefined;
}

export interface LegendSwitchesProps {
  label: string;
  switches: readonly Switch[];
  onToggle: (name: string) => void;
  /** Further controls at the end of the list. */
  children?: ReactNode;
}

export function LegendSwitches({
  label,
  switches,
  onToggle,
  children,
}: LegendSwitchesProps) {
  return (
    <ul className={classes.legend} aria-label={label}>
      {switches.map((item) => (
        <li key={item.name}>
          {item.unavailable === undefined ? (
            <button
              type="button"
              className={classes.switch}
              aria-pressed={item.on}
              onClick={() => onToggle(item.name)}
            >
              <LineSample look={item.look} />
              {item.name}
            </button>
          ) : (
            <span className={classes.unavailable}>
              <s>{item.name}</s> unavailable: {item.unavailable}
            </span>
          )}
        </li>
      ))}
      {children !== undefined && <li>{children}</li>}
    </ul>
  );
}
