import { compareParams, paramsKey, paramsLabel } from './params';

describe('params', () => {
  it('have one key whatever the order of their names', () => {
    expect(paramsKey({ size: 64, batch: 1000 })).toBe(
      paramsKey({ batch: 1000, size: 64 }),
    );
  });

  it('read as words with separated thousands', () => {
    expect(paramsLabel({ batch: 10_000, mode: 'fast' })).toBe(
      'batch 10,000 · mode fast',
    );
    expect(paramsLabel({})).toBe('no params');
  });

  it('sort numbers as numbers', () => {
    const sorted = [{ batch: 10_000 }, { batch: 2000 }].toSorted(compareParams);
    expect(sorted.map(({ batch }) => batch)).toEqual([2000, 10_000]);
  });
});
