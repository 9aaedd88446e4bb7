/** Shows the fields of an event, one line each, folded if there are many. One level of nesting is flattened. */
import { formatDateTime } from '../lib/times';

export type Detail = Readonly<Record<string, unknown>>;

/** More fields than this are folded. */
const MAX_OPEN_LINES = 4;
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

function linesOf(
  detail: Detail,
): readonly (readonly [name: string, value: string])[] {
  return Object.entries(detail).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(
          ([inner, own]) => [inner, formatDetail(own)] as const,
        )
      : [[name, formatDetail(value)] as const],
  );
}

function formatDetail(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return INSTANT.test(value) ? formatDateTime(value) : value;
}

export interface DetailLinesProps {
  detail: Detail;
  /** Shown before it unfolds, instead of the number of fields. */
  summary?: string;
}

export function DetailLines({ detail, summary }: DetailLinesProps) {
  const lines = linesOf(detail);
  if (lines.length === 0) return summary === undefined ? <>–</> : null;
  const listed = lines.map(([name, value], index) => (
    // Fields of several parts may have one name.
    // oxlint-disable-next-line react/no-array-index-key
    <div key={`${index} ${name}`} style={{ overflowWrap: 'anywhere' }}>
      {name.replaceAll('_', ' ')}: <span className="pl-mono">{value}</span>
    </div>
  ));
  if (summary === undefined && lines.length <= MAX_OPEN_LINES)
    return <>{listed}</>;
  return (
    <details>
      <summary>{summary ?? `${lines.length} fields`}</summary>
      {listed}
    </details>
  );
}
