import { suiteToOpen } from './suites';

const suites = [
  { name: 'allocator', last_run_at: null },
  { name: 'crypto', last_run_at: '2026-11-20T10:00:00Z' },
  { name: 'hashing', last_run_at: '2026-11-21T10:00:00Z' },
];

describe('the suite a page opens on', () => {
  it('is the one it was told', () =>
    expect(suiteToOpen(suites, 'crypto')?.name).toBe('crypto'));

  it.each([undefined, 'gone'])(
    'is else the one that was run last (%s)',
    (named) => expect(suiteToOpen(suites, named)?.name).toBe('hashing'),
  );

  it('is the first by name while none has run, and none where there is none', () => {
    expect(suiteToOpen(suites.slice(0, 1), undefined)?.name).toBe('allocator');
    expect(suiteToOpen([], undefined)).toBeUndefined();
  });
});
