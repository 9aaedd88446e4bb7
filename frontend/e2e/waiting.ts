/**
 * How long the journey waits for one event. It is generous, because what is waited for takes minutes on a loaded
 * machine, and it ends only a test that would never end.
 */
export const WITHIN_MS = 8 * 60_000;
