import { throttle } from './throttle';

describe('throttle', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('acts at once, then once per interval, and always after the last call', () => {
    let acted = 0;
    const { call } = throttle(() => (acted += 1), 1000);
    for (let n = 0; n < 50; n += 1) call();
    expect(acted).toBe(1);
    vi.advanceTimersByTime(1000);
    expect(acted).toBe(2);
    vi.advanceTimersByTime(10_000);
    expect(acted).toBe(2);
  });

  it('does nothing more once cancelled', () => {
    let acted = 0;
    const throttled = throttle(() => (acted += 1), 1000);
    throttled.call();
    throttled.call();
    throttled.cancel();
    vi.advanceTimersByTime(5000);
    expect(acted).toBe(1);
  });
});
