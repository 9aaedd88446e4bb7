/** What a request asks for, counted before it is sent, on each kind of target it asks for. */
import type { Suite, Target } from '../../api/types';
import { formatDuration } from '../../lib/times';
import { formatInteger } from '../../lib/units';
import { sizeOf, type Draft, type Size } from './run-draft';

const counted = (count: number, one: string, many: string) =>
  `${formatInteger(count)} ${count === 1 ? one : many}`;

/** `5 launches × 20 rounds, 5 fresh processes on each target; at least 25 s of measuring` */
function launchesText(
  { launches, starts, leastSeconds }: Size,
  { base, rounds }: Draft,
): string {
  const of = base.trim() === '' ? '' : ' of each revision';
  return (
    `${counted(launches, 'launch', 'launches')} × ${counted(Number(rounds), 'round', 'rounds')}${of}, ` +
    `${counted(starts, 'fresh process', 'fresh processes')} on each target; ` +
    (leastSeconds < 1
      ? 'less than a second of measuring at best'
      : `at least ${formatDuration(leastSeconds)} of measuring`)
  );
}

function sizeText(
  suite: Suite,
  draft: Draft,
  kinds: readonly Target['kind'][],
): string {
  const [first, ...others] = kinds.map((kind) => ({
    kind,
    size: sizeOf(suite, draft, kind),
  }));
  if (first === undefined) return '';
  const { groups, cases } = first.size;
  const all = `${counted(groups, 'group', 'groups')} with ${counted(cases, 'case', 'cases')}`;
  const differs = others.some(
    ({ size }) => size.launches !== first.size.launches,
  );
  if (!differs) return `${all}; ${launchesText(first.size, draft)}.`;
  const perKind = [first, ...others].map(
    ({ kind, size }) => `on a ${kind} ${launchesText(size, draft)}`,
  );
  return `${all}; ${perKind.join('; ')}.`;
}

export interface RunSizeProps {
  suite: Suite;
  draft: Draft;
  kinds: readonly Target['kind'][];
}

export function RunSize({ suite, draft, kinds }: RunSizeProps) {
  return (
    <p
      role="status"
      aria-label="Size of the run"
      style={{ margin: '0.75rem 0 0' }}
    >
      <strong>This asks for</strong> {sizeText(suite, draft, kinds)}{' '}
      <span style={{ color: 'var(--pl-muted)' }}>
        A group is one benchmark at one point of its params; its arms are
        measured side by side.
      </span>
    </p>
  );
}
