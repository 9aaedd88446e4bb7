/** /compare */
import { getRouteApi } from '@tanstack/react-router';

import { ComparePage } from '../../features/compare/compare-page';
import { compact } from '../../lib/search-values';

const route = getRouteApi('/app/compare');

export function CompareRoute() {
  const navigate = route.useNavigate();
  return (
    <ComparePage
      search={compact(route.useSearch())}
      onSearch={(search) => void navigate({ search, resetScroll: false })}
    />
  );
}
