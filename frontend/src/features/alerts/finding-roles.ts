/** Labels of the role that a finding has in its alert. */
import type { Finding } from '../../api/types';

export const FINDING_ROLES: Record<Finding['role'], string> = {
  candidate: 'first seen',
  confirmation: 'confirmation',
  recovery: 'recovery',
};
