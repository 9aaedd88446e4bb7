/** What part a finding plays in its alert. */
import type { Finding } from '../../api/types';

export const FINDING_ROLES: Record<Finding['role'], string> = {
  candidate: 'first seen',
  confirmation: 'confirmation',
  recovery: 'recovery',
};
