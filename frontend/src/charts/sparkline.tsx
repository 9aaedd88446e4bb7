/** Draws a small line beside the values in words. It is plain SVG, because a table has dozens of them. */
export interface SparklineProps {
  values: readonly number[];
  width?: number;
  height?: number;
}

export function sparklinePath(
  values: readonly number[],
  width: number,
  height: number,
): string {
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  return values
    .map((value, index) => {
      const x = (index * step).toFixed(1);
      const y = (height - 2 - ((value - low) / span) * (height - 4)).toFixed(1);
      return `${index === 0 ? 'M' : 'L'}${x} ${y}`;
    })
    .join(' ');
}

export function Sparkline({
  values,
  width = 140,
  height = 26,
}: SparklineProps) {
  if (values.length === 0) return null;
  return (
    <svg width={width} height={height} aria-hidden="true" focusable="false">
      <path
        d={sparklinePath(values, width, height)}
        fill="none"
        stroke="var(--pl-series-0)"
        strokeWidth={1.5}
        strokeLinejoin="round"
      />
    </svg>
  );
}
