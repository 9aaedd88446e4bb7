/** Shows one channel: its health, what is sent to it and when, its keys, and the log of its deliveries. */
import { Alert, Button, Group } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import {
  changeChannel,
  channelKeys,
  channelQuery,
  deleteChannel,
  testChannel,
} from '../../api/channels';
import type { Channel } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { AppLink } from '../../ui/app-link';
import { ConfirmButton } from '../../ui/confirm-button';
import { Icon } from '../../ui/icon';
import { Page } from '../../ui/page';
import { Facts, MainAndAside, Panel } from '../../ui/panel';
import { QueryView } from '../../ui/query-view';
import { Status } from '../../ui/status';
import { changeOf, draftOf } from './channel-draft';
import { ChannelForm } from './channel-form';
import { filtersText, KIND_LABELS, stateOf } from './channel-labels';
import type { ChannelsSearch } from './channels-search';
import { DeliveriesPanel } from './deliveries-panel';
import { KeysPanel } from './keys-panel';
import { ChannelMutePanel } from './channel-mute-panel';

export interface ChannelPageProps {
  channelId: string;
  search: ChannelsSearch;
  onSearch: (search: ChannelsSearch) => void;
  onDeleted: () => void;
}

export function ChannelPage({
  channelId,
  search,
  onSearch,
  onDeleted,
}: ChannelPageProps) {
  const channel = useQuery(channelQuery(channelId));
  const queryClient = useQueryClient();
  const [editing, setEditing] = useState(false);
  const refetch = () =>
    void queryClient.invalidateQueries({ queryKey: channelKeys.all });
  const testing = useMutation({
    mutationFn: () => testChannel(channelId),
    onSuccess: refetch,
  });
  const { data } = channel;
  return (
    <Page
      title={data?.name ?? 'Channel'}
      crumb={<AppLink to="/channels">Channels</AppLink>}
      {...(data === undefined ? {} : { lead: <Lead channel={data} /> })}
      actions={
        data !== undefined && (
          <Group gap="xs">
            <Button
              size="xs"
              loading={testing.isPending}
              onClick={() => testing.mutate()}
            >
              Send a test
            </Button>
            {data.origin === 'api' && (
              <>
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => setEditing(!editing)}
                >
                  {editing ? 'Cancel editing' : 'Edit'}
                </Button>
                <ConfirmButton
                  label="Delete"
                  title={`Delete ${data.name}?`}
                  meaning="What waits for it is not sent. The log of its deliveries is no longer shown."
                  confirm="Delete channel"
                  action={() => deleteChannel(channelId)}
                  onDone={() => {
                    refetch();
                    onDeleted();
                  }}
                />
              </>
            )}
          </Group>
        )
      }
    >
      {testing.error !== null && (
        <Alert
          color="red"
          variant="outline"
          role="alert"
          mb="md"
          icon={<Icon name="warning" />}
        >
          Not sent: {testing.error.message}
        </Alert>
      )}
      <QueryView query={channel} what="channel" lines={8}>
        {(loaded) =>
          editing ? (
            <Panel title="Settings">
              <ChannelForm
                initial={draftOf(loaded)}
                isNew={false}
                save={(draft) => changeChannel(channelId, changeOf(draft))}
                onSaved={() => setEditing(false)}
                onTest={() => testing.mutate()}
              />
            </Panel>
          ) : (
            <MainAndAside
              main={
                <>
                  <Definition channel={loaded} />
                  <DeliveriesPanel
                    channelId={channelId}
                    search={search}
                    onSearch={onSearch}
                  />
                </>
              }
              aside={
                <>
                  <ChannelMutePanel channel={loaded} />
                  {loaded.kind === 'webhook' && <KeysPanel channel={loaded} />}
                </>
              }
            />
          )
        }
      </QueryView>
    </Page>
  );
}

function Lead({ channel }: { channel: Channel }) {
  return (
    <Group gap={8} component="span">
      <Status look={stateOf(channel)} />
      <span>{stateSentence(channel)}</span>
    </Group>
  );
}

function stateSentence(channel: Channel): string {
  const error = channel.last_error ?? 'no answer';
  if (channel.state === 'broken')
    return `${error}. It gets no more messages until a test arrives.`;
  if (channel.state === 'failing' && channel.retry_at !== null)
    return `${error}. The next attempt is at ${formatDateTime(channel.retry_at)}.`;
  return KIND_LABELS[channel.kind];
}

function Definition({ channel }: { channel: Channel }) {
  return (
    <Panel title="Settings">
      <Facts
        items={[
          ['Leads to', channel.address],
          ['Is sent', filtersText(channel) ?? 'everything'],
          [
            'Daily digest',
            channel.digest_at === null
              ? 'no, single messages'
              : `at ${channel.digest_at}, ${channel.time_zone}`,
          ],
          ['Waiting', channel.waiting],
          ['Owner', channel.owner?.name ?? channel.created_by],
          ...(channel.origin === 'environment'
            ? ([['Set by', "the server's operator"]] as const)
            : []),
        ]}
      />
    </Panel>
  );
}
