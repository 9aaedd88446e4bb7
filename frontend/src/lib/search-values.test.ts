import { compact, oneOf, textValue } from './search-values';

describe('URL search values', () => {
  it('drop what is malformed instead of failing', () => {
    expect(textValue({ nested: true })).toBeUndefined();
    expect(textValue('x'.repeat(501))).toBeUndefined();
    expect(oneOf('haxx', ['open', 'fixed'])).toBeUndefined();
  });

  it('keep an id that looks like a number as text', () => {
    expect(textValue(42)).toBe('42');
  });

  it('leave nothing empty in the address', () => {
    expect(compact({ suite: undefined, target: '', state: 'open' })).toEqual({
      state: 'open',
    });
  });
});
