/** Holds the fields of a rule's form and makes the request of them. */
import type {
  RuleKind,
  RuleMode,
  RuleRequest,
  RuleVersion,
} from '../../api/types';
import { hasEffect, hasPeriod } from './rule-labels';
import type { NewRuleSearch } from './rules-search';

export interface RuleDraft {
  name: string;
  kind: RuleKind;
  suite: string;
  benchmark: string;
  arm: string;
  metric: string;
  target: string;
  /** In percent: 3 means 3 %. Empty while it is being typed. */
  percent: number | '';
  direction: RuleVersion['direction'];
  mode: RuleMode;
  /** How often something must arrive, where the kind asks for it. Empty while it is typed. */
  hours: number | '';
  text: string;
  comment: string;
  /** Undefined means the person who saves the rule. */
  ownerId: string | undefined;
}

/** Digits kept when a share becomes percent, so that 0.07 reads as 7 and not as 7.000000000000001. */
const EXACT_DIGITS = 12;

function asPercent(share: number): number {
  return Number((share * 100).toPrecision(EXACT_DIGITS));
}

/** Makes the draft of a new rule. It begins in shadow, where it notifies nobody. */
export function freshDraft(about: NewRuleSearch): RuleDraft {
  return {
    name: '',
    kind: 'history',
    suite: about.suite ?? '*',
    benchmark: about.benchmark ?? '*',
    arm: about.arm ?? '*',
    metric: about.metric ?? '*',
    target: about.target ?? '*',
    percent: about.effect === undefined ? '' : asPercent(about.effect),
    direction: 'worse',
    mode: 'shadow',
    hours: '',
    text: '',
    comment: '',
    ownerId: undefined,
  };
}

export function draftOf(name: string, version: RuleVersion): RuleDraft {
  return {
    name,
    kind: version.kind,
    suite: version.suite,
    benchmark: version.benchmark,
    arm: version.arm,
    metric: version.metric,
    target: version.target,
    percent: asPercent(version.min_effect),
    direction: version.direction,
    mode: version.mode,
    hours: version.period_hours ?? '',
    text: version.text,
    comment: '',
    ownerId: version.owner?.id,
  };
}

export function complete(draft: RuleDraft): boolean {
  return (
    draft.name.trim() !== '' &&
    (draft.percent !== '' || !hasEffect(draft.kind)) &&
    (draft.hours !== '' || !hasPeriod(draft.kind))
  );
}

const orAny = (pattern: string) =>
  pattern.trim() === '' ? '*' : pattern.trim();

export function toRequest(draft: RuleDraft): RuleRequest {
  return {
    name: draft.name.trim(),
    kind: draft.kind,
    suite: orAny(draft.suite),
    benchmark: orAny(draft.benchmark),
    arm: orAny(draft.arm),
    metric: orAny(draft.metric),
    target: orAny(draft.target),
    min_effect: Number((Number(draft.percent) / 100).toPrecision(EXACT_DIGITS)),
    direction: draft.direction,
    mode: draft.mode,
    period_hours: hasPeriod(draft.kind) ? Number(draft.hours) : null,
    text: draft.text.trim(),
    comment: draft.comment.trim(),
    owner_id: draft.ownerId ?? null,
  };
}

/** Returns the errors by field; `body.rule.min_effect`, `body.min_effect` and `min_effect` are the same field. */
export function fieldErrors(
  fields: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).map(([where, text]) => [
      where.split('.').at(-1) ?? where,
      text,
    ]),
  );
}
