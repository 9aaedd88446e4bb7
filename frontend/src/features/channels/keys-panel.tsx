/** Shows the keys that sign a webhook's messages, and rotates them: both keys sign for a while. */
import { Button, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { channelKeys, rotateKey } from '../../api/channels';
import type { Channel } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { FilterSelect } from '../../ui/filter-select';
import { NotChangedNotice } from '../../ui/not-changed-notice';
import { OneTimeSecret } from '../../ui/one-time-secret';
import { Panel } from '../../ui/panel';
import { TimeAgo } from '../../ui/time-ago';
import classes from './channels.module.css';

const OVERLAPS = [
  { value: '0', label: 'not at all' },
  { value: '1', label: 'an hour' },
  { value: '24', label: 'a day' },
  { value: '168', label: 'a week' },
] as const;

export function KeysPanel({ channel }: { channel: Channel }) {
  const [hours, setHours] = useState('24');
  const [secret, setSecret] = useState<string | null>(null);
  const queryClient = useQueryClient();
  const rotation = useMutation({
    mutationFn: () => rotateKey(channel.id, Number(hours)),
    onSuccess: (created) => {
      setSecret(created.secret);
      queryClient.setQueryData(
        channelKeys.channel(channel.id),
        created.channel,
      );
    },
  });
  return (
    <Panel title="Signing keys">
      <ul className={classes.keys} aria-label="Keys that sign">
        {channel.keys.map((key) => (
          <li key={key.id}>
            made <TimeAgo at={key.created_at} />
            <div className={classes.quiet}>
              {key.valid_until === null
                ? 'the present key'
                : `signs, too, until ${formatDateTime(key.valid_until)}`}
            </div>
          </li>
        ))}
      </ul>
      {secret !== null && (
        <OneTimeSecret
          title="New secret"
          secret={secret}
          advice="Give it to the receiver while the old key still signs."
          onClose={() => setSecret(null)}
        />
      )}
      <Stack gap="xs" align="flex-start">
        <FilterSelect
          label="The present key goes on for"
          value={hours}
          options={OVERLAPS}
          onChange={(next) => setHours(next ?? '24')}
        />
        <Button
          variant="default"
          size="xs"
          loading={rotation.isPending}
          onClick={() => rotation.mutate()}
        >
          Rotate key
        </Button>
        <NotChangedNotice error={rotation.error} />
      </Stack>
    </Panel>
  );
}
