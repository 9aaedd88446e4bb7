/** What part a finding plays in its alert. */
import type { Finding } from '../../api/types';

export const ROLE_WORDS: Record<Finding['role'], string> = {
  candidate: 'first seen',
  confirmation: 'confirmation',
  recovery: 'recovery',
};
