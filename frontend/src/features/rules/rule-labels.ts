/** How what a rule says is written: modes, kinds, patterns. Shares are only scaled to percent (I17). */
import type { RuleKind, RuleMode, RuleVersion } from '../../api/types';
import { PATTERNS } from '../../lib/rule-patterns';
import { formatPercent } from '../../lib/units';
import type { Badge } from '../../ui/status';

export const MODE_BADGES: Record<RuleMode, Badge> = {
  active: { tone: 'good', icon: 'alerts', word: 'active' },
  shadow: { tone: 'demo', icon: 'eye', word: 'shadow' },
  off: { tone: 'quiet', icon: 'stop', word: 'off' },
};

export const MODE_MEANING: Record<RuleMode, string> = {
  active: 'Raises alerts and people are told.',
  shadow:
    'Raises alerts that are kept and counted; nobody is told. For trying a new rule.',
  off: 'What it matches raises nothing.',
};

export const KIND_LABELS: Record<RuleKind, string> = {
  history: 'a change in the history of a series',
  arm_slower: 'an arm slower than its reference',
};

export const DIRECTION_LABELS: Record<RuleVersion['direction'], string> = {
  worse: 'gets worse',
  both: 'moves either way',
};

/** Every field of a version as words, in the order they are compared and shown. */
export function versionFields(
  version: RuleVersion,
): readonly (readonly [field: string, words: string])[] {
  return [
    ['About', KIND_LABELS[version.kind]],
    ...PATTERNS.map(
      (name) =>
        [name[0]?.toUpperCase() + name.slice(1), version[name]] as const,
    ),
    ['Least effect', formatPercent(version.min_effect)],
    ['When it', DIRECTION_LABELS[version.direction]],
    ['Mode', version.mode],
    ['Owner', version.owner?.name ?? 'nobody'],
    ['In words', version.text],
  ];
}
