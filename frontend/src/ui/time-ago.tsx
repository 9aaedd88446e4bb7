/** A relative time that updates itself, with the exact time as its title. */
import { useEffect, useState } from 'react';

import { formatAgo, formatDateTime } from '../lib/times';

export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}

export function TimeAgo({ at }: { at: string | null }) {
  const now = useNow(10_000);
  if (at === null) return <>–</>;
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {formatAgo(at, now)}
    </time>
  );
}
