/** Whether the policy in force is right, as a mark. */
import type { PolicyAdvice } from '../api/types';
import type { Look } from './status';

const RIGHT: Look = { tone: 'good', icon: 'check', word: 'policy holds' };
const WRONG: Look = {
  tone: 'bad',
  icon: 'warning',
  word: 'policy is wrong here',
};
const UNKNOWN: Look = {
  tone: 'unsure',
  icon: 'question',
  word: 'not known yet',
};

export function holdsLook({ holds }: Pick<PolicyAdvice, 'holds'>): Look {
  return holds === null ? UNKNOWN : holds ? RIGHT : WRONG;
}
