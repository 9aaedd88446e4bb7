/** Search values of the list of rules, and of the form of a new rule: its scope. */
import type { RuleFilters } from '../../api/rules';
import type { RuleKind, RuleMode } from '../../api/types';
import { oneOf, textValue } from '../../lib/search-values';

export const RULE_KINDS: readonly RuleKind[] = [
  'history',
  'arm_slower',
  'gate',
  'missing',
  'schedule',
  'quarantine',
  'agent_silent',
  'import_stopped',
];
export const RULE_MODES: readonly RuleMode[] = ['active', 'shadow', 'off'];

export interface RulesSearch extends RuleFilters {
  /** `SUITE/NAME` of the shipped rule to highlight. */
  shipped?: string | undefined;
}

export function parseRulesSearch(search: Record<string, unknown>): RulesSearch {
  return {
    kind: oneOf(search['kind'], RULE_KINDS),
    mode: oneOf(search['mode'], RULE_MODES),
    cursor: textValue(search['cursor']),
    shipped: textValue(search['shipped']),
  };
}

export interface NewRuleSearch {
  suite?: string | undefined;
  benchmark?: string | undefined;
  arm?: string | undefined;
  metric?: string | undefined;
  target?: string | undefined;
  /** The minimum effect that the noise page proposes, as a share. */
  effect?: number | undefined;
}

function share(value: unknown): number | undefined {
  const number = Number(value);
  return value !== undefined && number > 0 && number <= 10 ? number : undefined;
}

export function parseNewRuleSearch(
  search: Record<string, unknown>,
): NewRuleSearch {
  return {
    suite: textValue(search['suite']),
    benchmark: textValue(search['benchmark']),
    arm: textValue(search['arm']),
    metric: textValue(search['metric']),
    target: textValue(search['target']),
    effect: share(search['effect']),
  };
}
