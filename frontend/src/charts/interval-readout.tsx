/** Shows the values under the pointer in an interval chart, one per series, with their intervals. */
import classes from './charts.module.css';
import type { IntervalChartProps } from './interval-picture';
import { LineSample } from './legend';

export type IntervalReadoutProps = { x: string | number } & Pick<
  IntervalChartProps,
  'series' | 'format' | 'formatX' | 'xLabel'
>;

export function IntervalReadout({
  x,
  series,
  format,
  formatX,
  xLabel,
}: IntervalReadoutProps) {
  return (
    <div className={classes.tooltip}>
      <strong>
        {xLabel}{' '}
        {formatX !== undefined && typeof x === 'number' ? formatX(x) : x}
      </strong>
      {series.map(({ name, look, points }, index) => {
        const point = points.find((candidate) => candidate.x === x);
        if (point?.value === null || point === undefined) return null;
        const interval =
          point.lower === null || point.upper === null
            ? ''
            : ` (${format(point.lower)} – ${format(point.upper)})`;
        return (
          <div key={name} className={classes.reading}>
            <LineSample look={look ?? index} />
            {name}: {format(point.value)}
            {interval}
          </div>
        );
      })}
    </div>
  );
}
