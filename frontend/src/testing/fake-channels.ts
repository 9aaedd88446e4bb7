/** Handlers of the fake server for channels, and the log that a redelivery adds to. */
import { http, HttpResponse, type HttpHandler } from 'msw';

import type {
  Channel,
  ChannelChange,
  ChannelRequest,
  Delivery,
  DeliveryDetail,
} from '../api/types';
import { ada, minutesAgo } from './fixtures';
import { problem } from './problems';

export interface FakeChannels {
  channels: Channel[];
  deliveries: DeliveryDetail[];
}

const API = '*/api/v1';
const page = (items: readonly unknown[]) =>
  HttpResponse.json({ items, next: null });
const notFound = () => problem(404, 'not_found', 'There is no such thing.');

function channel(change: Partial<Channel>): Channel {
  return {
    id: 'chn-1',
    name: 'team',
    kind: 'webhook',
    address: 'https://hooks.example.org/paceline',
    template: null,
    origin: 'api',
    filters: {
      severities: [],
      kinds: [],
      states: [],
      suites: [],
      targets: [],
      branches: [],
    },
    time_zone: 'Europe/Berlin',
    digest_at: null,
    muted_until: null,
    state: 'healthy',
    failing_since: null,
    retry_at: null,
    last_error: null,
    waiting: 0,
    owner: ada,
    created_by: 'Ada',
    created_at: minutesAgo(9000),
    keys: [{ id: 'key-1', created_at: minutesAgo(9000), valid_until: null }],
    ...change,
  };
}

function delivery(change: Partial<DeliveryDetail>): DeliveryDetail {
  return {
    id: 'dlv-1',
    channel_id: 'chn-1',
    notification_id: 'ntf-1',
    kind: 'alert.opened',
    severity: 'critical',
    title: 'native slower than fallback: ledger_batch on lab-host',
    url: 'https://perf.example.org/alerts/alert-1',
    state: 'delivered',
    reason: null,
    attempts: 2,
    created_at: minutesAgo(50),
    finished_at: minutesAgo(49),
    payload: '{"type":"alert.opened","data":{"id":"ntf-1"}}',
    log: [
      {
        number: 1,
        at: minutesAgo(50),
        status: 503,
        answer: 'upstream <b>down</b>',
        error: 'it answered 503',
        latency_ms: 212.4,
      },
      {
        number: 2,
        at: minutesAgo(49),
        status: 204,
        answer: '',
        error: null,
        latency_ms: 38.2,
      },
    ],
    ...change,
  };
}

export function createChannels(): FakeChannels {
  return {
    channels: [
      channel({}),
      channel({
        id: 'chn-2',
        name: 'nightly',
        kind: 'slack',
        address: 'https://hooks.slack.com/…',
        filters: {
          severities: ['critical'],
          kinds: [],
          states: [],
          suites: ['hashing'],
          targets: [],
          branches: ['main'],
        },
        digest_at: '08:00',
        state: 'broken',
        last_error: 'it answered 404',
        failing_since: minutesAgo(3000),
        waiting: 3,
        keys: [],
      }),
    ],
    deliveries: [
      delivery({}),
      delivery({
        id: 'dlv-2',
        channel_id: 'chn-2',
        state: 'failed',
        reason: 'it answered 404',
        attempts: 14,
      }),
    ],
  };
}

function settingsHandlers(own: FakeChannels): HttpHandler[] {
  const find = (id: unknown) => own.channels.find((each) => each.id === id);
  const change = (id: unknown, edit: Partial<Channel>) => {
    const savedChannel = find(id);
    if (savedChannel === undefined) return notFound();
    Object.assign(savedChannel, edit);
    return HttpResponse.json({ ...savedChannel });
  };
  return [
    http.get(`${API}/channels`, () => page(own.channels)),
    http.get(`${API}/channels/:id`, ({ params }) => change(params['id'], {})),
    http.post(`${API}/channels`, async ({ request }) => {
      const body = (await request.json()) as ChannelRequest;
      if (own.channels.some(({ name }) => name === body.name))
        return problem(
          409,
          'name_taken',
          `A channel named '${body.name}' exists already: choose another name.`,
        );
      const made = channel({
        id: `chn-${own.channels.length + 1}`,
        name: body.name,
        kind: body.kind ?? 'webhook',
        address: body.url ?? (body.recipients ?? []).join(', '),
        filters: { ...channel({}).filters, ...body.filters },
        template: body.template ?? null,
        digest_at: body.digest_at ?? null,
      });
      own.channels.unshift(made);
      const secret = made.kind === 'webhook' ? `whsec_of_${made.id}` : null;
      return HttpResponse.json({ channel: made, secret }, { status: 201 });
    }),
    http.patch(`${API}/channels/:id`, async ({ params, request }) => {
      const {
        url,
        recipients,
        filters,
        name,
        time_zone: zone,
        template,
        digest_at: digestAt,
      } = (await request.json()) as ChannelChange;
      const savedChannel = find(params['id']);
      if (savedChannel === undefined) return notFound();
      return change(params['id'], {
        name: name ?? savedChannel.name,
        time_zone: zone ?? savedChannel.time_zone,
        filters: { ...savedChannel.filters, ...filters },
        address: url ?? recipients?.join(', ') ?? savedChannel.address,
        template: template ?? savedChannel.template,
        ...(digestAt !== undefined && { digest_at: digestAt }),
      });
    }),
    http.delete(`${API}/channels/:id`, ({ params }) => {
      own.channels = own.channels.filter(({ id }) => id !== params['id']);
      return new HttpResponse(null, { status: 204 });
    }),
    http.post(`${API}/channels/:id/mute`, async ({ params, request }) => {
      const { hours } = (await request.json()) as { hours: number };
      return change(params['id'], { muted_until: minutesAgo(-60 * hours) });
    }),
    http.post(`${API}/channels/:id/unmute`, ({ params }) =>
      change(params['id'], { muted_until: null }),
    ),
    http.post(`${API}/channels/:id/rotate`, async ({ params, request }) => {
      const { keep_hours: hours } = (await request.json()) as {
        keep_hours: number;
      };
      const savedChannel = find(params['id']);
      if (savedChannel === undefined) return notFound();
      savedChannel.keys = [
        { id: 'key-2', created_at: minutesAgo(0), valid_until: null },
        ...savedChannel.keys.map((key) => ({
          ...key,
          valid_until: minutesAgo(-60 * hours),
        })),
      ];
      return HttpResponse.json({
        channel: { ...savedChannel },
        secret: 'whsec_new',
      });
    }),
  ];
}

function deliveryHandlers(own: FakeChannels): HttpHandler[] {
  const find = (id: unknown) => own.deliveries.find((each) => each.id === id);
  return [
    http.post(`${API}/channels/:id/test`, ({ params }) => {
      const savedChannel = own.channels.find(({ id }) => id === params['id']);
      if (savedChannel === undefined) return notFound();
      const made = delivery({
        id: `dlv-${own.deliveries.length + 1}`,
        channel_id: savedChannel.id,
        kind: 'channel.test',
        severity: 'info',
        title: `Test of channel ${savedChannel.name}`,
        attempts: 1,
        log: [],
      });
      own.deliveries.unshift(made);
      Object.assign(savedChannel, { state: 'healthy', last_error: null });
      return HttpResponse.json(made, { status: 202 });
    }),
    http.get(`${API}/channels/:id/deliveries`, ({ params }) =>
      page(
        own.deliveries.filter(
          ({ channel_id: id }: Delivery) => id === params['id'],
        ),
      ),
    ),
    http.get(`${API}/deliveries/:id`, ({ params }) => {
      const sent = find(params['id']);
      return sent === undefined ? notFound() : HttpResponse.json(sent);
    }),
    http.post(`${API}/deliveries/:id/redeliver`, ({ params }) => {
      const sent = find(params['id']);
      if (sent === undefined) return notFound();
      Object.assign(sent, { state: 'delivered', reason: null });
      sent.attempts += 1;
      return HttpResponse.json(sent, { status: 202 });
    }),
  ];
}

export function channelHandlers({
  channels,
}: {
  channels: FakeChannels;
}): HttpHandler[] {
  return [...settingsHandlers(channels), ...deliveryHandlers(channels)];
}
