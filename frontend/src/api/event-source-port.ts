/**
 * The interface to server-sent events, with two adapters: the browser's `EventSource` below and the fake in
 * fake-event-source.ts. A port opens one connection; live-stream.ts reconnects.
 */
export interface SourceMessage {
  id: string;
  kind: string;
  data: string;
}

export interface SourceHandlers {
  onMessage: (message: SourceMessage) => void;
  onDown: () => void;
}

export interface EventSourcePort {
  /** Opens a connection that reports these kinds; the returned function closes it for good. */
  open: (
    url: string,
    kinds: readonly string[],
    handlers: SourceHandlers,
  ) => () => void;
}

export const browserEventSource: EventSourcePort = {
  open(url, kinds, handlers) {
    const source = new EventSource(url);
    source.addEventListener('error', handlers.onDown);
    for (const kind of kinds) {
      source.addEventListener(kind, (event: MessageEvent<string>) => {
        handlers.onMessage({ id: event.lastEventId, kind, data: event.data });
      });
    }
    return () => source.close();
  },
};
