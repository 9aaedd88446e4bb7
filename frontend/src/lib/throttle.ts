/**
 * Throttles a function: it runs at once, then at most once per interval, and always after the last call. It turns
 * a flood of live hints into few refetches.
 */
export interface Throttled {
  call: () => void;
  cancel: () => void;
}

export function throttle(action: () => void, intervalMs: number): Throttled {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pending = false;
  const tick = () => {
    timer = undefined;
    if (!pending) return;
    pending = false;
    start();
  };
  const start = () => {
    action();
    timer = setTimeout(tick, intervalMs);
  };
  return {
    call: () => {
      if (timer === undefined) start();
      else pending = true;
    },
    cancel: () => {
      if (timer !== undefined) clearTimeout(timer);
      timer = undefined;
      pending = false;
    },
  };
}
