/** Looks and labels of changes of a series' level. */
import type { Change } from '../api/types';
import type { Badge, Tone } from './status';

const WORSE: ReadonlySet<Change['direction']> = new Set(['slower', 'worse']);

export function isWorse({ direction }: Pick<Change, 'direction'>): boolean {
  return WORSE.has(direction);
}

const STATES: Readonly<Record<Change['state'], Badge>> = {
  suspect: { tone: 'unsure', icon: 'eye', word: 'suspect' },
  standing: { tone: 'bad', icon: 'warning', word: 'stands' },
  vanished: { tone: 'quiet', icon: 'muted', word: 'vanished' },
  accepted: { tone: 'quiet', icon: 'check', word: 'accepted' },
  superseded: { tone: 'quiet', icon: 'muted', word: 'superseded' },
};

export function changeBadge(
  change: Pick<Change, 'state' | 'direction'>,
): Badge {
  const look = STATES[change.state];
  return change.state === 'standing' && !isWorse(change)
    ? { ...look, tone: 'good', icon: 'check' }
    : look;
}

/** Returns the tone of a current change; other changes are muted. */
export function changeTone(change: Pick<Change, 'state' | 'direction'>): Tone {
  if (change.state !== 'suspect' && change.state !== 'standing') return 'quiet';
  return isWorse(change) ? 'bad' : 'good';
}

/** Returns the server's sentence without the levels, e.g. "14.2 % slower". */
export function shortChangeText({ words }: Pick<Change, 'words'>): string {
  return words.split(':')[0] ?? words;
}

export const CAUSE_LABELS: Readonly<
  Record<NonNullable<Change['cause']>, string>
> = {
  code: 'code',
  environment: 'environment',
  target: 'target',
};
