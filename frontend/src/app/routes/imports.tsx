/** /imports and /imports/$importId */
import { getRouteApi } from '@tanstack/react-router';

import { compact } from '../../lib/search-values';
import { ImportPage } from '../../features/imports/import-page';
import { ImportsPage } from '../../features/imports/imports-page';

const list = getRouteApi('/app/imports');
const detail = getRouteApi('/app/imports/$importId');

export function ImportsRoute() {
  const navigate = list.useNavigate();
  return (
    <ImportsPage
      search={compact(list.useSearch())}
      onSearch={(search) => void navigate({ search })}
    />
  );
}

export function ImportRoute() {
  const { importId } = detail.useParams();
  const navigate = detail.useNavigate();
  return (
    <ImportPage
      key={importId}
      importId={importId}
      onGone={() => void navigate({ to: '/imports' })}
    />
  );
}
