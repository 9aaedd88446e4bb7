/** /runs */
import { getRouteApi } from '@tanstack/react-router';

import { compact } from '../../lib/search-values';
import { RunsPage } from '../../features/runs/runs-page';

const route = getRouteApi('/app/runs');

export function RunsRoute() {
  const navigate = route.useNavigate();
  return (
    <RunsPage
      search={compact(route.useSearch())}
      onSearch={(search) => void navigate({ search })}
    />
  );
}
