/** Shows the legend of a history chart: the signs that are drawn. */
import classes from './charts.module.css';

export type HistorySign =
  'point' | 'aside' | 'far' | 'level' | 'noise' | 'limit';

const SAMPLES: Readonly<Record<HistorySign, React.ReactNode>> = {
  point: (
    <>
      <path
        d="M11 1V13"
        stroke="var(--pl-series-0)"
        strokeOpacity="0.55"
        strokeWidth="2"
      />
      <circle cx="11" cy="7" r="3.4" fill="var(--pl-series-0)" />
    </>
  ),
  aside: (
    <path d="M7 3l8 8m0 -8l-8 8" stroke="var(--pl-unsure)" strokeWidth="2" />
  ),
  far: <path d="M11 2L17 12H5z" fill="var(--pl-unsure)" />,
  level: (
    <>
      <rect
        width="22"
        height="14"
        fill="var(--pl-series-0)"
        fillOpacity="0.14"
      />
      <path d="M0 7H22" stroke="var(--pl-text)" strokeWidth="2" />
    </>
  ),
  noise: (
    <rect width="22" height="14" fill="var(--pl-unsure)" fillOpacity="0.25" />
  ),
  limit: (
    <>
      <rect width="22" height="14" fill="var(--pl-bad)" fillOpacity="0.12" />
      <path d="M0 13H22" stroke="var(--pl-bad)" strokeDasharray="6 4" />
    </>
  ),
};

export function HistoryLegend({
  signs,
}: {
  signs: readonly { sign: HistorySign; label: string }[];
}) {
  return (
    <ul className={classes.legend}>
      {signs.map(({ sign, label }) => (
        <li key={sign}>
          <svg
            width="22"
            height="14"
            aria-hidden="true"
            focusable="false"
            style={{ flex: 'none' }}
          >
            {SAMPLES[sign]}
          </svg>
          {label}
        </li>
      ))}
    </ul>
  );
}
