/** /channels and /channels/$channelId */
import { getRouteApi } from '@tanstack/react-router';

import { ChannelPage } from '../../features/channels/channel-page';
import { ChannelsPage } from '../../features/channels/channels-page';
import { compact } from '../../lib/search-values';

const list = getRouteApi('/app/channels');
const detail = getRouteApi('/app/channels/$channelId');

export function ChannelsRoute() {
  const navigate = list.useNavigate();
  return (
    <ChannelsPage
      search={compact(list.useSearch())}
      onSearch={(search) => void navigate({ search: compact(search) })}
    />
  );
}

export function ChannelRoute() {
  const navigate = detail.useNavigate();
  const { channelId } = detail.useParams();
  return (
    <ChannelPage
      key={channelId}
      channelId={channelId}
      search={compact(detail.useSearch())}
      onSearch={(search) => void navigate({ search: compact(search) })}
      onDeleted={() => void navigate({ to: '/channels' })}
    />
  );
}
