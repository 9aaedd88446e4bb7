/** / */
import { getRouteApi } from '@tanstack/react-router';

import { OverviewPage } from '../../features/overview/overview-page';
import { compact } from '../../lib/search-values';

const route = getRouteApi('/app/');

export function OverviewRoute() {
  const navigate = route.useNavigate();
  return (
    <OverviewPage
      search={compact(route.useSearch())}
      onSearch={(search) => void navigate({ search })}
    />
  );
}
