/**
 * A live stream that survives lost connections: it remembers the id of the last event it handed on and
 * resumes after it. Invariant: no event is handed on twice. An event is a hint (I4); whoever listens may
 * always refetch.
 */
import type { EventSourcePort } from './event-source-port';
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
/** ms; doubled per failure up to the maximum, so a restarting server is met soon and never hammered. */
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;

export interface StreamOptions {
  port: EventSourcePort;
  run?: string | undefined;
  onEvent: (event: LiveEvent) => void;
  onStatus: (status: StreamStatus) => void;
  firstDelayMs?: number;
}

function parse(data: string): LiveEvent | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && 'kind' in value ? (value as LiveEvent) : undefined;
  } catch {
    return undefined;
  }
}

export class LiveStream {
  private lastId = 0;
  private failures = 0;
  private closeSource: (() => void) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: StreamOptions) {
    this.connect();
  }

  close(): void {
    if (this.timer !== undefined) clearTimeout(this.timer);
    this.closeSource?.();
    this.options.onStatus('closed');
  }

  private connect(): void {
    this.options.onStatus(this.failures === 0 ? 'connecting' : 'lost');
    this.closeSource = this.options.port.open(this.url(), KINDS, {
      onOpen: () => {
        this.failures = 0;
        this.options.onStatus('open');
      },
      onMessage: ({ data }) => this.receive(data),
      onDown: () => this.reconnect(),
    });
  }

  private url(): string {
    const query = new URLSearchParams();
    if (this.options.run !== undefined) query.set('run', this.options.run);
    if (this.lastId > 0) query.set('last_event_id', String(this.lastId));
    return `/api/v1/stream?${query.toString()}`;
  }

  private receive(data: string): void {
    const event = parse(data);
    if (event === undefined || event.id <= this.lastId) return;
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
