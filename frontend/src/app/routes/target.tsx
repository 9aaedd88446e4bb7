/** /targets and /targets/$targetId */
import { getRouteApi } from '@tanstack/react-router';

import { compact } from '../../lib/search-values';
import { TargetPage } from '../../features/targets/target-page';
import { TargetsPage } from '../../features/targets/targets-page';

const list = getRouteApi('/app/targets');
const detail = getRouteApi('/app/targets/$targetId');

export function TargetsRoute() {
  const navigate = list.useNavigate();
  return (
    <TargetsPage
      search={compact(list.useSearch())}
      onSearch={(search) => void navigate({ search })}
    />
  );
}

export function TargetRoute() {
  const { targetId } = detail.useParams();
  const navigate = detail.useNavigate();
  return (
    <TargetPage
      key={targetId}
      targetId={targetId}
      search={compact(detail.useSearch())}
      onSearch={(search) =>
        void navigate({ search: compact(search), resetScroll: false })
      }
    />
  );
}
