/**
 * A live stream that reconnects after a lost connection and resumes after the last event it delivered.
 *
 * No event is delivered twice, and none is missed unless `onStale` is called. Events are hints (I4): listeners may
 * always refetch.
 */
import { apiAddress } from './project';
import type { EventSourcePort, SourceMessage } from './event-source-port';
import type { LiveEvent, LiveKind } from './types';

export type StreamStatus = 'connecting' | 'open' | 'lost' | 'closed';

const KINDS: readonly LiveKind[] = [
  'run',
  'job',
  'progress',
  'samples',
  'conditions',
  'log',
  'alert',
  'target',
];
/** Events about the stream itself: it is open, or events were lost. */
const CONTROL = ['ready', 'reset'] as const;
/** Delays of reconnecting: doubled per failure up to the maximum, so that a restarting server is not overloaded. */
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;

export interface StreamOptions {
  port: EventSourcePort;
  run?: string | undefined;
  onEvent: (event: LiveEvent) => void;
  /** Called when the page may be older than the stream: on the first connection, and after events were lost. */
  onStale: () => void;
  onStatus: (status: StreamStatus) => void;
  firstDelayMs?: number;
}

function parse(data: string): LiveEvent | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && 'kind' in value
      ? (value as LiveEvent)
      : undefined;
  } catch {
    return undefined;
  }
}

export class LiveStream {
  private lastId: number | undefined;
  private failures = 0;
  private closeSource: (() => void) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: StreamOptions) {
    this.connect();
  }

  /** Closes the connection, e.g. while the page is hidden, because browsers allow only six per server. */
  pause(): void {
    if (this.timer !== undefined) clearTimeout(this.timer);
    this.timer = undefined;
    this.closeSource?.();
    this.closeSource = undefined;
  }

  resume(): void {
    if (this.closeSource === undefined) this.connect();
  }

  close(): void {
    this.pause();
    this.options.onStatus('closed');
  }

  private connect(): void {
    this.timer = undefined;
    this.options.onStatus(this.failures === 0 ? 'connecting' : 'lost');
    this.closeSource = this.options.port.open(
      this.url(),
      [...KINDS, ...CONTROL],
      {
        onMessage: (message) => this.receive(message),
        onDown: () => this.reconnect(),
      },
    );
  }

  private url(): string {
    const query = new URLSearchParams();
    if (this.options.run !== undefined) query.set('run', this.options.run);
    if (this.lastId !== undefined)
      query.set('last_event_id', String(this.lastId));
    return apiAddress('/stream', query);
  }

  private receive({ id, kind, data }: SourceMessage): void {
    if (kind === 'ready') this.ready(Number(id));
    else if (kind === 'reset') this.options.onStale();
    else this.handOn(parse(data));
  }

  /** Handles an opened stream: data fetched from now on is no older than the events to come. */
  private ready(place: number): void {
    this.failures = 0;
    this.options.onStatus('open');
    if (this.lastId !== undefined) return;
    this.lastId = Number.isFinite(place) ? place : 0;
    this.options.onStale();
  }

  private handOn(event: LiveEvent | undefined): void {
    if (
      event === undefined ||
      (this.lastId !== undefined && event.id <= this.lastId)
    )
      return;
    this.lastId = event.id;
    this.options.onEvent(event);
  }

  private reconnect(): void {
    this.closeSource?.();
    this.options.onStatus('lost');
    const first = this.options.firstDelayMs ?? FIRST_DELAY_MS;
    const delay = Math.min(MAX_DELAY_MS, first * 2 ** this.failures);
    this.failures += 1;
    this.timer = setTimeout(() => this.connect(), delay);
  }
}
