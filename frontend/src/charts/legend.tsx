/** A legend of line samples with words; drawn by us so that it is a list and reads as one. */
import classes from './charts.module.css';
import { seriesLook } from './palette';

export function Legend({ names }: { names: readonly string[] }) {
  const lines = names.map((name, index) => Object.assign({ name }, seriesLook(index)));
  return (
    <ul className={classes.legend}>
      {lines.map((line) => (
        <li key={line.name}>
          <svg width="26" height="10" aria-hidden="true">
            <line
              x1="0"
              y1="5"
              x2="26"
              y2="5"
              stroke={line.color}
              strokeWidth="2.5"
              strokeDasharray={line.dash}
            />
          </svg>
          {line.name}
        </li>
      ))}
    </ul>
  );
}
