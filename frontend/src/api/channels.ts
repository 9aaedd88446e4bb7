/** Requests about channels, which notify people, and the log of what was sent. A secret is in one answer only. */
import { queryOptions } from '@tanstack/react-query';

import { client, unwrap } from './client';
import type {
  Channel,
  ChannelChange,
  ChannelRequest,
  CreatedChannel,
  Delivery,
  DeliveryDetail,
  Page,
} from './types';

export const channelKeys = {
  all: ['channels'] as const,
  lists: ['channels', 'list'] as const,
  channel: (id: string) => ['channels', 'one', id] as const,
  deliveries: (id: string) => ['channels', 'deliveries', id] as const,
  delivery: (id: string) => ['channels', 'delivery', id] as const,
};

/** Interval of refetching while a delivery waits for its receiver. */
const POLL_MS = 2000;

export function channelsQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: [...channelKeys.lists, cursor],
    queryFn: ({ signal }): Promise<Page<Channel>> =>
      unwrap(
        client.GET('/api/v1/channels', {
          signal,
          params: { query: { cursor, limit: 50 } },
        }),
      ),
  });
}

export function channelQuery(id: string) {
  return queryOptions({
    queryKey: channelKeys.channel(id),
    queryFn: ({ signal }): Promise<Channel> =>
      unwrap(
        client.GET('/api/v1/channels/{channel_id}', {
          signal,
          params: { path: { channel_id: id } },
        }),
      ),
  });
}

/** Returns the query of a channel's log, which is refetched while a delivery is pending. */
export function deliveriesQuery(id: string, cursor: string | undefined) {
  return queryOptions({
    queryKey: [...channelKeys.deliveries(id), cursor],
    queryFn: ({ signal }): Promise<Page<Delivery>> =>
      unwrap(
        client.GET('/api/v1/channels/{channel_id}/deliveries', {
          signal,
          params: { path: { channel_id: id }, query: { cursor, limit: 20 } },
        }),
      ),
    refetchInterval: ({ state }) =>
      state.data?.items.some((delivery) => delivery.state === 'pending') ===
      true
        ? POLL_MS
        : false,
  });
}

export function deliveryQuery(id: string) {
  return queryOptions({
    queryKey: channelKeys.delivery(id),
    queryFn: ({ signal }): Promise<DeliveryDetail> =>
      unwrap(
        client.GET('/api/v1/deliveries/{delivery_id}', {
          signal,
          params: { path: { delivery_id: id } },
        }),
      ),
  });
}

export function createChannel(
  channel: ChannelRequest,
): Promise<CreatedChannel> {
  return unwrap(client.POST('/api/v1/channels', { body: channel }));
}

export function changeChannel(
  id: string,
  change: ChannelChange,
): Promise<Channel> {
  return unwrap(
    client.PATCH('/api/v1/channels/{channel_id}', {
      params: { path: { channel_id: id } },
      body: change,
    }),
  );
}

export async function deleteChannel(id: string): Promise<void> {
  await unwrap(
    client.DELETE('/api/v1/channels/{channel_id}', {
      params: { path: { channel_id: id } },
    }),
  );
}

export function rotateKey(
  id: string,
  keepHours: number,
): Promise<CreatedChannel> {
  return unwrap(
    client.POST('/api/v1/channels/{channel_id}/rotate', {
      params: { path: { channel_id: id } },
      body: { keep_hours: keepHours },
    }),
  );
}

export function muteChannel(id: string, hours: number): Promise<Channel> {
  return unwrap(
    client.POST('/api/v1/channels/{channel_id}/mute', {
      params: { path: { channel_id: id } },
      body: { hours },
    }),
  );
}

export function unmuteChannel(id: string): Promise<Channel> {
  return unwrap(
    client.POST('/api/v1/channels/{channel_id}/unmute', {
      params: { path: { channel_id: id } },
    }),
  );
}

export function testChannel(id: string): Promise<Delivery> {
  return unwrap(
    client.POST('/api/v1/channels/{channel_id}/test', {
      params: { path: { channel_id: id } },
    }),
  );
}

export function redeliver(id: string): Promise<Delivery> {
  return unwrap(
    client.POST('/api/v1/deliveries/{delivery_id}/redeliver', {
      params: { path: { delivery_id: id } },
    }),
  );
}
