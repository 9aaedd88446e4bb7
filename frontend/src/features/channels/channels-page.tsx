/** Lists the channels of the project: the address of each, what is sent to it, and whether it arrives. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { channelsQuery, createChannel } from '../../api/channels';
import { may, sessionQuery } from '../../api/session';
import type { Channel, CreatedChannel } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { AppLink } from '../../ui/app-link';
import { DataTable, type Column } from '../../ui/data-table';
import { OneTimeSecret } from '../../ui/one-time-secret';
import { Page } from '../../ui/page';
import { PagedList } from '../../ui/paged-list';
import { Panel } from '../../ui/panel';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { EMPTY_DRAFT, requestOf } from './channel-draft';
import { ChannelForm } from './channel-form';
import { filtersText, isMuted, KIND_LABELS, stateOf } from './channel-labels';
import classes from './channels.module.css';
import type { ChannelsSearch } from './channels-search';

export interface ChannelsPageProps {
  search: ChannelsSearch;
  onSearch: (search: ChannelsSearch) => void;
}

export function ChannelsPage({ search, onSearch }: ChannelsPageProps) {
  const session = useQuery(sessionQuery);
  const channels = useQuery(channelsQuery(search.cursor));
  const [created, setCreated] = useState<CreatedChannel | null>(null);
  const secret = created?.secret ?? null;
  return (
    <Page
      title="Channels"
      about="A channel tells people of the project's alerts where they already look: webhook, chat or e-mail."
    >
      <Panel title="All channels" flush>
        {created !== null && secret !== null && (
          <OneTimeSecret
            title={`Secret of ${created.channel.name}`}
            secret={secret}
            advice="The receiver checks signatures with it."
            onClose={() => setCreated(null)}
          />
        )}
        <PagedList
          query={channels}
          what="the channels"
          plural="channels"
          icon="channels"
          lines={3}
          filtered={false}
          onClear={() => onSearch({})}
          cursor={search.cursor}
          onCursor={(cursor) => onSearch({ cursor })}
          empty={
            <EmptyState icon="channels" title="No channels">
              Nobody is told of alerts outside the dashboard. Make a channel
              below.
            </EmptyState>
          }
        >
          {(rows) => (
            <DataTable
              label="Channels"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ id }) => id}
            />
          )}
        </PagedList>
      </Panel>
      {may(session.data, 'channels.write') && (
        <Panel title="New channel">
          <ChannelForm
            initial={EMPTY_DRAFT}
            isNew
            save={(draft) => createChannel(requestOf(draft))}
            onSaved={setCreated}
          />
        </Panel>
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Channel>[] = [
  {
    header: 'Name',
    wrap: true,
    cell: ({ id, name }) => (
      <AppLink to="/channels/$channelId" params={{ channelId: id }}>
        {name}
      </AppLink>
    ),
  },
  {
    header: 'Leads to',
    wrap: true,
    cell: ({ kind, address }) => (
      <>
        {KIND_LABELS[kind]}
        <div className={classes.quiet}>{address}</div>
      </>
    ),
  },
  {
    header: 'State',
    wrap: true,
    cell: (channel) => (
      <>
        <Status look={stateOf(channel)} />
        {channel.last_error !== null && (
          <div className={classes.quiet}>{channel.last_error}</div>
        )}
        {isMuted(channel) && channel.muted_until !== null && (
          <div className={classes.quiet}>
            muted until {formatDateTime(channel.muted_until)}
          </div>
        )}
      </>
    ),
  },
  {
    header: 'Is sent',
    wrap: true,
    cell: (channel) => filtersText(channel) ?? 'everything',
  },
  { header: 'Waiting', align: 'right', cell: ({ waiting }) => waiting },
];
