/**
 * Draws one value with its interval per row, on a shared scale with an optional reference, for categories
 * without a numeric order. Boxes are placed in percent, so that the chart fits any width.
 */
import classes from './dot-chart.module.css';
import { seriesLook } from './palette';
import { logTicks, niceTicks, spansDecades, type Ticks } from './ticks';

export interface DotRow {
  name: string;
  look: number;
  value: number | null;
  lower: number | null;
  upper: number | null;
  /** Further ticks on the row, such as p99 and the maximum. */
  further?: readonly number[];
  /** The formatted value, at the end of the row. */
  figure: string;
  /** A second line below the row, in muted text. */
  note?: string | undefined;
}

export interface DotChartProps {
  rows: readonly DotRow[];
  reference?: { at: number; label: string };
  /** If false, the scale begins near the data, for intervals around a reference. */
  fromZero?: boolean;
  format: (value: number) => string;
  /** Returns the label of the scale, e.g. `ratio, log scale`. */
  scaleLabel: (log: boolean) => string;
}

interface Frame extends Ticks {
  log: boolean;
  /** Returns the place of a value in percent of the width. */
  place: (value: number) => number;
}

export function dotFrame(values: readonly number[], fromZero = true): Frame {
  const [low, high] =
    values.length === 0 ? [0, 1] : [Math.min(...values), Math.max(...values)];
  const log = spansDecades(low, high);
  const ticks = log
    ? logTicks(low, high)
    : niceTicks(fromZero ? Math.min(0, low) : low, high);
  const [from, to] = log ? ticks.domain.map(Math.log) : ticks.domain;
  const span = (to ?? 1) - (from ?? 0);
  return {
    ...ticks,
    log,
    place: (value) =>
      (((log ? Math.log(value) : value) - (from ?? 0)) / span) * 100,
  };
}

export function DotChart({
  rows,
  reference,
  fromZero = true,
  format,
  scaleLabel,
}: DotChartProps) {
  const known = rows
    .flatMap((row) => [row.value, row.lower, row.upper, ...(row.further ?? [])])
    .concat(reference?.at ?? null)
    .filter((value) => value !== null);
  const frame = dotFrame(known, fromZero);
  return (
    <div className={classes.chart}>
      {rows.map((row) => (
        <Row key={row.name} row={row} frame={frame} reference={reference?.at} />
      ))}
      <div className={classes.axis}>
        {frame.ticks.map((tick) => (
          <span
            key={tick}
            className={classes.tick}
            style={{ left: `${frame.place(tick)}%` }}
          >
            {format(tick)}
          </span>
        ))}
      </div>
      <div className={classes.scale}>
        {scaleLabel(frame.log)}
        {reference !== undefined && (
          <span className={classes.referenceWord}>{reference.label}</span>
        )}
      </div>
    </div>
  );
}

function Row({
  row,
  frame,
  reference,
}: {
  row: DotRow;
  frame: Frame;
  reference: number | undefined;
}) {
  const { color } = seriesLook(row.look);
  const { place } = frame;
  return (
    <>
      <div className={classes.name}>{row.name}</div>
      <div className={classes.track}>
        {frame.ticks.map((tick) => (
          <i
            key={tick}
            className={classes.grid}
            style={{ left: `${place(tick)}%` }}
          />
        ))}
        {reference !== undefined && (
          <i
            className={classes.reference}
            style={{ left: `${place(reference)}%` }}
          />
        )}
        {row.lower !== null && row.upper !== null && (
          <i
            className={classes.interval}
            style={{
              left: `${place(row.lower)}%`,
              width: `${place(row.upper) - place(row.lower)}%`,
              background: color,
            }}
          />
        )}
        {(row.further ?? []).map((value) => (
          <i
            key={value}
            className={classes.further}
            style={{ left: `${place(value)}%`, background: color }}
          />
        ))}
        {row.value !== null && (
          <i
            className={classes.dot}
            style={{ left: `${place(row.value)}%`, background: color }}
          />
        )}
      </div>
      <div className={classes.figure}>{row.figure}</div>
      {row.note !== undefined && <div className={classes.note}>{row.note}</div>}
    </>
  );
}
