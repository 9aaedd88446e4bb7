/** The event source of tests: it keeps connections open and lets the test send events as the server. */
import type { EventSourcePort, SourceHandlers } from './event-source-port';
import type { LiveEvent } from './types';

export class FakeConnection {
  closed = false;

  constructor(
    readonly url: URL,
    private readonly handlers: SourceHandlers,
  ) {}

  /** Sends the server's first event: the stream is open, and this is the newest event so far. */
  ready(place = 0): void {
    this.sendRaw(String(place), 'ready', '{}');
  }

  /** Sends that events after the client's last one were lost. */
  reset(): void {
    this.sendRaw('', 'reset', '{}');
  }

  drop(): void {
    if (!this.closed) this.handlers.onDown();
  }

  send(event: LiveEvent): void {
    this.sendRaw(String(event.id), event.kind, JSON.stringify(event));
  }

  sendRaw(id: string, kind: string, data: string): void {
    if (!this.closed) this.handlers.onMessage({ id, kind, data });
  }
}

export class FakeEventSource implements EventSourcePort {
  readonly connections: FakeConnection[] = [];

  open(
    url: string,
    _kinds: readonly string[],
    handlers: SourceHandlers,
  ): () => void {
    const connection = new FakeConnection(
      new URL(url, 'http://localhost'),
      handlers,
    );
    this.connections.push(connection);
    return () => {
      connection.closed = true;
    };
  }

  /** The newest connection that is still open. */
  get current(): FakeConnection | undefined {
    return this.connections.findLast((connection) => !connection.closed);
  }
}
