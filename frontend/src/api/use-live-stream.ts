/** A hook that keeps a LiveStream open while it is enabled and the page is visible. */
import { createContext, use, useEffect, useEffectEvent, useState } from 'react';

import { browserEventSource, type EventSourcePort } from './event-source-port';
import { LiveStream, type StreamStatus } from './live-stream';
import type { LiveEvent } from './types';

export interface StreamSettings {
  port: EventSourcePort;
  firstDelayMs?: number;
}

export const StreamContext = createContext<StreamSettings>({
  port: browserEventSource,
});

export interface LiveStreamOptions {
  run?: string | undefined;
  enabled: boolean;
  onEvent: (event: LiveEvent) => void;
  /** Called when the page may be older than the stream. */
  onStale?: () => void;
}

export function useLiveStream({
  run,
  enabled,
  onEvent,
  onStale,
}: LiveStreamOptions): StreamStatus {
  const { port, firstDelayMs } = use(StreamContext);
  const [status, setStatus] = useState<StreamStatus>('closed');
  const handleEvent = useEffectEvent(onEvent);
  const handleStale = useEffectEvent(() => onStale?.());
  useEffect(() => {
    if (!enabled) return undefined;
    const stream = new LiveStream({
      port,
      run,
      onEvent: (event) => handleEvent(event),
      onStale: () => handleStale(),
      onStatus: setStatus,
      ...(firstDelayMs === undefined ? {} : { firstDelayMs }),
    });
    const follow = () =>
      document.visibilityState === 'hidden' ? stream.pause() : stream.resume();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      stream.close();
    };
  }, [enabled, port, run, firstDelayMs]);
  return status;
}
