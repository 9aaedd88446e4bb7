/** /runs/new */
import { getRouteApi } from '@tanstack/react-router';

import { compact } from '../../lib/search-values';
import { NewRunPage } from '../../features/runs/new-run-page';

const route = getRouteApi('/app/runs/new');

export function NewRunRoute() {
  const navigate = route.useNavigate();
  return (
    <NewRunPage
      search={compact(route.useSearch())}
      onSearch={(search) => void navigate({ search, replace: true })}
      onRequested={(run) =>
        void navigate({ to: '/runs/$runId', params: { runId: run.id } })
      }
    />
  );
}
