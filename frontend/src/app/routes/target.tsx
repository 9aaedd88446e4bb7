/** /targets/$targetId */
import { getRouteApi } from '@tanstack/react-router';

import { TargetPage } from '../../features/targets/target-page';

const route = getRouteApi('/app/targets/$targetId');

export function TargetRoute() {
  const { targetId } = route.useParams();
  return <TargetPage key={targetId} targetId={targetId} />;
}
