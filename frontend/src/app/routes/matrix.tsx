/** /matrix */
import { getRouteApi } from '@tanstack/react-router';

import { MatrixPage } from '../../features/matrix/matrix-page';
import { compact } from '../../lib/search-values';

const route = getRouteApi('/app/matrix');

export function MatrixRoute() {
  const navigate = route.useNavigate();
  return (
    <MatrixPage
      search={compact(route.useSearch())}
      onSearch={(search) => void navigate({ search })}
    />
  );
}
