/** /series */
import { getRouteApi } from '@tanstack/react-router';

import { SeriesListPage } from '../../features/series/series-list-page';
import { compact } from '../../lib/search-values';

const route = getRouteApi('/app/series');

export function SeriesListRoute() {
  const navigate = route.useNavigate();
  return (
    <SeriesListPage
      search={compact(route.useSearch())}
      onSearch={(search) => void navigate({ search })}
    />
  );
}
