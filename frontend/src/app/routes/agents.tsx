/** /agents */
import { getRouteApi } from '@tanstack/react-router';

import { AgentsPage } from '../../features/agents/agents-page';
import { compact } from '../../lib/search-values';

const route = getRouteApi('/app/agents');

export function AgentsRoute() {
  const navigate = route.useNavigate();
  return (
    <AgentsPage
      search={compact(route.useSearch())}
      onSearch={(search) => void navigate({ search: compact(search) })}
    />
  );
}
