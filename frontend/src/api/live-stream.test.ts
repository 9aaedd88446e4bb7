import { FakeEventSource } from './fake-event-source';
import { LiveStream, type StreamStatus } from './live-stream';
import type { LiveEvent } from './types';

function event(id: number): LiveEvent {
  return {
    id,
    kind: 'log',
    at: '2026-01-10T12:00:00Z',
    run_id: 'run-1',
    job_id: 'job-1',
    data: {},
  };
}

function open(run?: string) {
  const port = new FakeEventSource();
  const seen: number[] = [];
  const statuses: StreamStatus[] = [];
  let stale = 0;
  const stream = new LiveStream({
    port,
    run,
    onEvent: ({ id }) => seen.push(id),
    onStale: () => (stale += 1),
    onStatus: (status) => statuses.push(status),
    firstDelayMs: 100,
  });
  return { port, seen, statuses, stream, stale: () => stale };
}

describe('a live stream', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('resumes after the last event it handed on', () => {
    const { port, seen } = open('run-1');
    port.current?.ready(3);
    port.current?.send(event(7));
    port.current?.send(event(9));
    port.current?.drop();
    vi.advanceTimersByTime(100);
    expect(port.connections).toHaveLength(2);
    expect(port.current?.url.searchParams.get('last_event_id')).toBe('9');
    expect(port.current?.url.searchParams.get('run')).toBe('run-1');
    port.current?.ready(9);
    port.current?.send(event(10));
    expect(seen).toEqual([7, 9, 10]);
  });

  it('resumes from where it began when nothing had come yet', () => {
    const { port } = open();
    port.current?.ready(41);
    port.current?.drop();
    vi.advanceTimersByTime(100);
    expect(port.current?.url.searchParams.get('last_event_id')).toBe('41');
  });

  it('hands no event on twice, whatever the server repeats', () => {
    const { port, seen } = open();
    port.current?.ready();
    for (const id of [1, 2, 2, 1, 3]) port.current?.send(event(id));
    expect(seen).toEqual([1, 2, 3]);
  });

  it('asks for fresh state only when it first listens and after events were lost', () => {
    const { port, stale } = open();
    expect(stale()).toBe(0);
    port.current?.ready(5);
    expect(stale()).toBe(1);
    port.current?.drop();
    vi.advanceTimersByTime(100);
    port.current?.ready(5);
    expect(stale()).toBe(1);
    port.current?.reset();
    expect(stale()).toBe(2);
  });

  it('waits longer after each failure and starts afresh after a success', () => {
    const { port } = open();
    for (const wait of [100, 200, 400]) {
      port.current?.drop();
      vi.advanceTimersByTime(wait - 1);
      expect(port.current).toBeUndefined();
      vi.advanceTimersByTime(1);
      expect(port.current).toBeDefined();
    }
    port.current?.ready();
    port.current?.drop();
    vi.advanceTimersByTime(100);
    expect(port.current).toBeDefined();
  });

  it('ignores what it cannot read', () => {
    const { port, seen } = open();
    port.current?.ready();
    port.current?.sendRaw('8', 'job', '{"kind":');
    port.current?.sendRaw('8', 'job', '3');
    port.current?.send(event(9));
    expect(seen).toEqual([9]);
  });

  it('gives its connection back while paused and resumes without a gap', () => {
    const { port, stream, seen } = open();
    port.current?.ready(1);
    port.current?.send(event(2));
    stream.pause();
    expect(port.current).toBeUndefined();
    stream.resume();
    expect(port.current?.url.searchParams.get('last_event_id')).toBe('2');
    port.current?.send(event(3));
    expect(seen).toEqual([2, 3]);
  });

  it('stays closed once closed', () => {
    const { port, stream, statuses } = open();
    port.current?.drop();
    stream.close();
    vi.advanceTimersByTime(60_000);
    expect(port.current).toBeUndefined();
    expect(statuses.at(-1)).toBe('closed');
  });
});
