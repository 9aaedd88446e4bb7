import { withoutAnsi } from './ansi';

describe('a log line', () => {
  it('is shown without terminal sequences and otherwise as it was', () => {
    expect(withoutAnsi('\u001B[1;32mCompiling\u001B[0m serde [v1]')).toBe('Compiling serde [v1]');
    expect(withoutAnsi('\u001B]0;title\u0007done')).toBe('done');
  });
});
