/** /targets and /targets/$targetId */
import { getRouteApi } from '@tanstack/react-router';

import { compact } from '../../lib/search-values';
import { TargetPage } from '../../features/targets/target-page';
import { TargetsPage } from '../../features/targets/targets-page';

const list = getRouteApi('/app/targets');
const one = getRouteApi('/app/targets/$targetId');

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
  const { targetId } = one.useParams();
  const navigate = one.useNavigate();
  return (
    <TargetPage
      key={targetId}
      targetId={targetId}
      search={compact(one.useSearch())}
      onSearch={(search) =>
        void navigate({ search: compact(search), resetScroll: false })
      }
    />
  );
}
