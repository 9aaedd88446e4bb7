/**
 * Controls of a history chart for keyboards and screen readers: a slider over the points, and buttons for the
 * window. They are native controls, so arrow keys, Home and End work.
 */
import { Button } from '@mantine/core';

import classes from './history-chart.module.css';
import type { Extent } from './history-picture';

export interface HistoryControlsProps {
  /** Keys of the points, in the order of time. */
  keys: readonly string[];
  chosen: string | undefined;
  describe: (key: string) => readonly string[];
  onChoose: (key: string) => void;
  /** The drawn window, and the whole range. */
  span: Extent;
  whole: Extent;
  /** The time of the chosen point, which zooming keeps in the middle. */
  middle: number | undefined;
  onZoom: (from: number, to: number) => void;
  onReset: () => void;
}

/** Returns the window moved and stretched, within the whole range. */
export function moveWindow(
  span: Extent,
  whole: Extent,
  change: { scale?: number; shift?: number; middle?: number },
) {
  const length =
    Math.min(span[1] - span[0], whole[1] - whole[0]) * (change.scale ?? 1);
  const center =
    (change.middle ?? (span[0] + span[1]) / 2) + (change.shift ?? 0) * length;
  const from = Math.max(
    whole[0],
    Math.min(whole[1] - length, center - length / 2),
  );
  return [from, Math.min(whole[1], from + length)] as const;
}

export function HistoryControls(props: HistoryControlsProps) {
  const {
    keys,
    chosen,
    describe,
    onChoose,
    span,
    whole,
    middle,
    onZoom,
    onReset,
  } = props;
  const index =
    chosen === undefined ? keys.length - 1 : Math.max(0, keys.indexOf(chosen));
  const words = describe(keys[index] ?? '').join(', ');
  const zoom = (change: Parameters<typeof moveWindow>[2]) =>
    onZoom(...moveWindow(span, whole, change));
  const all = span[0] <= whole[0] && span[1] >= whole[1];
  const around = middle === undefined ? {} : { middle };
  return (
    <div className={classes.controls}>
      <input
        type="range"
        className={classes.slider}
        aria-label="Point"
        aria-valuetext={words}
        min={0}
        max={Math.max(0, keys.length - 1)}
        value={index}
        onChange={(event) => {
          const key = keys[Number(event.currentTarget.value)];
          if (key !== undefined) onChoose(key);
        }}
      />
      <div className={classes.buttons} role="group" aria-label="Window">
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => zoom({ scale: 0.5, ...around })}
        >
          Zoom in
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={all}
          onClick={() => zoom({ scale: 2 })}
        >
          Zoom out
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={span[0] <= whole[0]}
          onClick={() => zoom({ shift: -0.5 })}
        >
          Earlier
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={span[1] >= whole[1]}
          onClick={() => zoom({ shift: 0.5 })}
        >
          Later
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={all}
          onClick={onReset}
        >
          Show all
        </Button>
      </div>
    </div>
  );
}
