/** How what a rule says is written: modes, kinds, patterns. Shares are only scaled to percent (I17). */
import type { RuleKind, RuleMode, RuleVersion } from '../../api/types';
import { PATTERNS } from '../../lib/rule-patterns';
import { formatPercent } from '../../lib/units';
import type { Look } from '../../ui/status';

export const MODE_LOOKS: Record<RuleMode, Look> = {
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

export const KIND_WORDS: Record<RuleKind, string> = {
  history: 'a change in the history of a series',
  arm_slower: 'an arm slower than its reference',
};

export const DIRECTION_WORDS: Record<RuleVersion['direction'], string> = {
  worse: 'gets worse',
  both: 'moves either way',
};

/** Every field of a version as words, in the order they are compared and shown. */
export function spelledOut(
  version: RuleVersion,
): readonly (readonly [field: string, words: string])[] {
  return [
    ['About', KIND_WORDS[version.kind]],
    ...PATTERNS.map(
      (name) =>
        [name[0]?.toUpperCase() + name.slice(1), version[name]] as const,
    ),
    ['Least effect', formatPercent(version.min_effect)],
    ['When it', DIRECTION_WORDS[version.direction]],
    ['Mode', version.mode],
    ['Owner', version.owner?.name ?? 'nobody'],
    ['In words', version.text],
  ];
}
