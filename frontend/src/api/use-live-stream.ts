/** React's hold on a LiveStream: opens while enabled, closes on leaving, keeps the newest callbacks. */
import { createContext, use, useEffect, useEffectEvent, useState } from 'react';

import { browserEventSource, type EventSourcePort } from './event-source-port';
import { LiveStream, type StreamStatus } from './live-stream';
import type { LiveEvent } from './types';

export interface StreamSettings {
  port: EventSourcePort;
  firstDelayMs?: number;
}

export const StreamContext = createContext<StreamSettings>({ port: browserEventSource });

export interface LiveStreamOptions {
  run?: string | undefined;
  enabled: boolean;
  onEvent: (event: LiveEvent) => void;
  onOpen?: () => void;
}

export function useLiveStream({ run, enabled, onEvent, onOpen }: LiveStreamOptions): StreamStatus {
  const { port, firstDelayMs } = use(StreamContext);
  const [status, setStatus] = useState<StreamStatus>('closed');
  const handleEvent = useEffectEvent(onEvent);
  const handleStatus = useEffectEvent((next: StreamStatus) => {
    setStatus(next);
    if (next === 'open') onOpen?.();
  });
  useEffect(() => {
    if (!enabled) return undefined;
    const stream = new LiveStream({
      port,
      run,
      onEvent: (event) => handleEvent(event),
      onStatus: (next) => handleStatus(next),
      ...(firstDelayMs === undefined ? {} : { firstDelayMs }),
    });
    return () => stream.close();
  }, [enabled, port, run, firstDelayMs]);
  return status;
}
