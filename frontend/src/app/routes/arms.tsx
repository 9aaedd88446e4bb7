/** /arms */
import { getRouteApi } from '@tanstack/react-router';

import { compact } from '../../lib/search-values';
import { ArmsPage } from '../../features/arms/arms-page';

const route = getRouteApi('/app/arms');

export function ArmsRoute() {
  const navigate = route.useNavigate();
  return (
    <ArmsPage
      search={compact(route.useSearch())}
      onSearch={(search) => void navigate({ search, resetScroll: false })}
    />
  );
}
