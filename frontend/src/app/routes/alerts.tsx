/** /alerts */
import { getRouteApi } from '@tanstack/react-router';

import { AlertsPage } from '../../features/alerts/alerts-page';

const route = getRouteApi('/app/alerts');

export function AlertsRoute() {
  const navigate = route.useNavigate();
  return (
    <AlertsPage
      search={route.useSearch()}
      onSearch={(search, replace) => void navigate({ search, replace, resetScroll: false })}
      onOpen={(alertId) => void navigate({ to: '/alerts/$alertId', params: { alertId } })}
    />
  );
}
