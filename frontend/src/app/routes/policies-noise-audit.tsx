/** /policies, /noise and /audit: lists whose filters are in the address. */
import { getRouteApi } from '@tanstack/react-router';

import { compact } from '../../lib/search-values';
import { AuditPage } from '../../features/audit/audit-page';
import { NoisePage } from '../../features/noise/noise-page';
import { PoliciesPage } from '../../features/policies/policies-page';

const policies = getRouteApi('/app/policies');
const noise = getRouteApi('/app/noise');
const audit = getRouteApi('/app/audit');

export function PoliciesRoute() {
  const navigate = policies.useNavigate();
  return (
    <PoliciesPage
      search={compact(policies.useSearch())}
      onSearch={(search) => void navigate({ search })}
    />
  );
}

export function NoiseRoute() {
  const navigate = noise.useNavigate();
  return (
    <NoisePage
      search={compact(noise.useSearch())}
      onSearch={(search) => void navigate({ search })}
    />
  );
}

export function AuditRoute() {
  const navigate = audit.useNavigate();
  return (
    <AuditPage
      search={compact(audit.useSearch())}
      onSearch={(search) => void navigate({ search })}
    />
  );
}
