/** /alerts/$alertId */
import { getRouteApi } from '@tanstack/react-router';

import { AlertPage } from '../../features/alerts/alert-page';

const route = getRouteApi('/app/alerts/$alertId');

export function AlertRoute() {
  const { alertId } = route.useParams();
  const navigate = route.useNavigate();
  return (
    <AlertPage
      key={alertId}
      alertId={alertId}
      onInbox={() => void navigate({ to: '/alerts' })}
    />
  );
}
