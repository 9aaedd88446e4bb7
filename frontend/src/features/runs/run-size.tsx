/** What a request asks for, counted before it is sent. */
import { formatDuration } from '../../lib/times';
import { formatInteger } from '../../lib/units';
import type { Draft, Size } from './run-draft';

const counted = (count: number, one: string, many: string) =>
  `${formatInteger(count)} ${count === 1 ? one : many}`;

/** `35 groups with 245 cases; 5 launches × 20 rounds, 5 fresh processes on each target; at least 25 s …` */
function sizeWords({ groups, cases, starts, leastSeconds }: Size, draft: Draft): string {
  const of = draft.base.trim() === '' ? '' : ' of each revision';
  return (
    `${counted(groups, 'group', 'groups')} with ${counted(cases, 'case', 'cases')}; ` +
    `${counted(Number(draft.launches), 'launch', 'launches')} × ` +
    `${counted(Number(draft.rounds), 'round', 'rounds')}${of}, ` +
    `${counted(starts, 'fresh process', 'fresh processes')} on each target; ` +
    `at least ${formatDuration(leastSeconds)} of measuring.`
  );
}

export function RunSize({ size, draft }: { size: Size; draft: Draft }) {
  return (
    <p role="status" aria-label="Size of the run" style={{ margin: '0.75rem 0 0' }}>
      <strong>This asks for</strong> {sizeWords(size, draft)}{' '}
      <span style={{ color: 'var(--pl-muted)' }}>
        A group is one benchmark at one point of its params; its arms are measured side by side.
      </span>
    </p>
  );
}
