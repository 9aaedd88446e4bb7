/** /alerts */
import { getRouteApi } from '@tanstack/react-router';

import { compact } from '../../lib/search-values';
import { AlertsPage } from '../../features/alerts/alerts-page';

const route = getRouteApi('/app/alerts');

export function AlertsRoute() {
  const navigate = route.useNavigate();
  return (
    <AlertsPage
      search={compact(route.useSearch())}
      onSearch={(search, replace) =>
        void navigate({ search, replace, resetScroll: false })
      }
      onOpen={(alertId) =>
        void navigate({ to: '/alerts/$alertId', params: { alertId } })
      }
    />
  );
}
