/** Lists every message of a channel with its attempts; each can be sent again. */
import { Button, Modal, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import {
  channelKeys,
  deliveriesQuery,
  deliveryQuery,
  redeliver,
} from '../../api/channels';
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryDetail,
} from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { ConfirmButton } from '../../ui/confirm-button';
import { DataTable, type Column } from '../../ui/data-table';
import { PagedList } from '../../ui/paged-list';
import { Panel } from '../../ui/panel';
import { QueryView } from '../../ui/query-view';
import { ScrollRegion } from '../../ui/scroll-region';
import { EmptyState } from '../../ui/states';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import { DELIVERY_STATES } from './channel-labels';
import classes from './channels.module.css';
import type { ChannelsSearch } from './channels-search';

export interface DeliveriesPanelProps {
  channelId: string;
  search: ChannelsSearch;
  onSearch: (search: ChannelsSearch) => void;
}

export function DeliveriesPanel({
  channelId,
  search,
  onSearch,
}: DeliveriesPanelProps) {
  const deliveries = useQuery(deliveriesQuery(channelId, search.cursor));
  const [shown, setShown] = useState<Delivery | null>(null);
  const queryClient = useQueryClient();
  const columns: readonly Column<Delivery>[] = [
    ...COLUMNS,
    {
      header: 'Details',
      cell: (delivery) => (
        <Button
          variant="default"
          size="xs"
          aria-label={`Details of ${delivery.title}`}
          onClick={() => setShown(delivery)}
        >
          Details
        </Button>
      ),
    },
    {
      header: 'Again',
      cell: (delivery) =>
        delivery.state === 'pending' || delivery.state === 'collected' ? (
          '–'
        ) : (
          <ConfirmButton
            label="Redeliver"
            name={`Redeliver ${delivery.title}`}
            title="Send it again?"
            meaning="The same message goes out at once, with the same id, so that the receiver can tell that it is the same event."
            confirm="Send again"
            action={() => redeliver(delivery.id)}
            onDone={() =>
              void queryClient.invalidateQueries({ queryKey: channelKeys.all })
            }
          />
        ),
    },
  ];
  return (
    <Panel title="Deliveries" about="They are kept for 90 days." flush>
      <PagedList
        query={deliveries}
        what="the deliveries"
        plural="deliveries"
        icon="channels"
        lines={4}
        filtered={false}
        onClear={() => onSearch({})}
        cursor={search.cursor}
        onCursor={(cursor) => onSearch({ cursor })}
        empty={
          <EmptyState icon="channels" title="No deliveries">
            Nothing was sent yet. Send a test to see that messages arrive.
          </EmptyState>
        }
      >
        {(rows) => (
          <DataTable
            label="Deliveries"
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
          />
        )}
      </PagedList>
      {shown !== null && (
        <DetailDialog delivery={shown} onClose={() => setShown(null)} />
      )}
    </Panel>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  { header: 'When', cell: ({ created_at: at }) => <TimeAgo at={at} /> },
  {
    header: 'Message',
    wrap: true,
    cell: ({ title, kind, severity }) => (
      <>
        {title}
        <div className={classes.quiet}>
          {kind}, {severity}
        </div>
      </>
    ),
  },
  {
    header: 'State',
    wrap: true,
    cell: ({ state, reason, attempts }) => (
      <>
        <Status look={DELIVERY_STATES[state]} />
        {reason !== null && <div className={classes.quiet}>{reason}</div>}
        {attempts > 1 && (
          <div className={classes.quiet}>{attempts} attempts</div>
        )}
      </>
    ),
  },
];

function DetailDialog({
  delivery,
  onClose,
}: {
  delivery: Delivery;
  onClose: () => void;
}) {
  const detail = useQuery(deliveryQuery(delivery.id));
  return (
    <Modal
      opened
      onClose={onClose}
      title={delivery.title}
      size="xl"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <QueryView query={detail} what="delivery">
        {(data) => <DetailContent detail={data} />}
      </QueryView>
    </Modal>
  );
}

function DetailContent({ detail }: { detail: DeliveryDetail }) {
  return (
    <Stack gap="md">
      <p className={classes.quiet}>
        Event <span className="pl-mono">{detail.notification_id}</span>
      </p>
      <section aria-label="Payload">
        <h3>Payload</h3>
        {detail.payload === null ? (
          <p className={classes.quiet}>Nothing was sent yet.</p>
        ) : (
          <ScrollRegion label="Payload" className={classes.code}>
            <code className="pl-mono">{detail.payload}</code>
          </ScrollRegion>
        )}
      </section>
      <section aria-label="Attempts">
        <h3>Attempts</h3>
        {detail.log.length === 0 ? (
          <p className={classes.quiet}>None.</p>
        ) : (
          <ol className={classes.attempts}>
            {detail.log.map((attempt) => (
              <li key={`${attempt.number} ${attempt.at}`}>
                <Attempt attempt={attempt} />
              </li>
            ))}
          </ol>
        )}
      </section>
    </Stack>
  );
}

function Attempt({ attempt }: { attempt: DeliveryAttempt }) {
  return (
    <>
      {attempt.number}. {formatDateTime(attempt.at)}:{' '}
      {attempt.error ?? 'accepted'}
      <div className={classes.quiet}>
        {attempt.status === null ? 'no answer' : `status ${attempt.status}`},{' '}
        {Math.round(attempt.latency_ms)} ms
      </div>
      {attempt.answer !== '' && (
        <pre className={`pl-mono ${classes.code}`}>{attempt.answer}</pre>
      )}
    </>
  );
}
