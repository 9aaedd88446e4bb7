/** Mutes a channel until an end. Messages that it would have sent are listed as skipped. */
import { Button, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { channelKeys, muteChannel, unmuteChannel } from '../../api/channels';
import type { Channel } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { FilterSelect } from '../../ui/filter-select';
import { NotChangedNotice } from '../../ui/not-changed-notice';
import { Panel } from '../../ui/panel';
import { isMuted } from './channel-labels';

const DURATIONS = [
  { value: '1', label: 'an hour' },
  { value: '8', label: '8 hours' },
  { value: '24', label: 'a day' },
  { value: '168', label: 'a week' },
] as const;

export function ChannelMutePanel({ channel }: { channel: Channel }) {
  const [hours, setHours] = useState('8');
  const queryClient = useQueryClient();
  const muted = isMuted(channel);
  const change = useMutation({
    mutationFn: () =>
      muted
        ? unmuteChannel(channel.id)
        : muteChannel(channel.id, Number(hours)),
    onSuccess: (next) => {
      queryClient.setQueryData(channelKeys.channel(channel.id), next);
      void queryClient.invalidateQueries({ queryKey: channelKeys.lists });
    },
  });
  return (
    <Panel
      title="Mute"
      about="What happens while a channel is muted is listed as skipped and not sent later."
    >
      <Stack gap="xs" align="flex-start">
        {muted ? (
          <span>Muted until {formatDateTime(channel.muted_until ?? '')}</span>
        ) : (
          <FilterSelect
            label="For"
            value={hours}
            options={DURATIONS}
            onChange={(next) => setHours(next ?? '8')}
          />
        )}
        <Button
          variant="default"
          size="xs"
          loading={change.isPending}
          onClick={() => change.mutate()}
        >
          {muted ? 'Unmute' : 'Mute channel'}
        </Button>
        <NotChangedNotice error={change.error} />
      </Stack>
    </Panel>
  );
}
