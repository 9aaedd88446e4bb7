import { withoutAnsi } from './ansi';

describe('a log line', () => {
  it('is shown without terminal sequences and otherwise as it was', () => {
    expect(withoutAnsi('\u001B[1;32mCompiling\u001B[0m serde [v1]')).toBe(
      'Compiling serde [v1]',
    );
    expect(withoutAnsi('\u001B]0;title\u0007done')).toBe('done');
  });

  it('keeps tabs and newlines, and nothing else that is invisible', () => {
    expect(withoutAnsi('a\tb\r\nc\rd\u0000\u0008\u001B[?25l\u001B(Be')).toBe(
      'a\tb\nc\nde',
    );
  });

  it('keeps what follows a sequence that was cut off', () => {
    expect(withoutAnsi('error\u001B[')).toBe('error');
    expect(withoutAnsi('\u001B[38;5')).toBe('');
  });
});
