/** Returns the badge of the policy in force: it holds, is wrong, or is not known yet. */
import type { PolicyAdvice } from '../api/types';
import type { Badge } from './status';

const RIGHT: Badge = { tone: 'good', icon: 'check', word: 'policy holds' };
const WRONG: Badge = {
  tone: 'bad',
  icon: 'warning',
  word: 'policy is wrong here',
};
const UNKNOWN: Badge = {
  tone: 'unsure',
  icon: 'question',
  word: 'not known yet',
};

export function policyBadge({ holds }: Pick<PolicyAdvice, 'holds'>): Badge {
  return holds === null ? UNKNOWN : holds ? RIGHT : WRONG;
}
