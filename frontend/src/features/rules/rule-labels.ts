/** Labels of a rule's fields: modes, kinds, directions. Shares are only scaled to percent (I17). */
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
  active: 'Raises alerts and notifies people.',
  shadow: 'Raises alerts without notifying anyone. For trying a new rule.',
  off: 'Raises no alerts for what it matches.',
};

export const KIND_LABELS: Record<RuleKind, string> = {
  history: 'a change in the history of a series',
  arm_slower: 'an arm slower than its reference',
  gate: 'a required gate or an arm that never ran, on the default branch',
  missing: 'cases that are not measured any more',
  schedule: 'runs of a schedule',
  quarantine: 'targets in quarantine',
  agent_silent: 'silent agents',
  import_stopped: 'imports that stop arriving',
};

/** Returns whether a rule of this kind has a minimum effect and can be replayed. */
export function hasEffect(kind: RuleKind): boolean {
  return kind === 'history' || kind === 'arm_slower';
}

/** Whether a rule of this kind says how often something must arrive. */
export function hasPeriod(kind: RuleKind): boolean {
  return kind === 'import_stopped';
}

export const DIRECTION_LABELS: Record<RuleVersion['direction'], string> = {
  worse: 'gets worse',
  both: 'moves either way',
};

/** Returns every field of a version as text, in the order in which versions are compared and shown. */
export function versionFields(
  version: RuleVersion,
): readonly (readonly [field: string, words: string])[] {
  return [
    ['Watches', KIND_LABELS[version.kind]],
    ...PATTERNS.map(
      (name) =>
        [name[0]?.toUpperCase() + name.slice(1), version[name]] as const,
    ),
    ['Minimum effect', formatPercent(version.min_effect)],
    ['Alerts when it', DIRECTION_LABELS[version.direction]],
    ...(version.period_hours === null
      ? []
      : [['Awaited every', `${version.period_hours} h`] as const]),
    ['Mode', version.mode],
    ['Owner', version.owner?.name ?? 'nobody'],
    ['Description', version.text],
  ];
}
