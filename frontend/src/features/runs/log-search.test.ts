import { findInLines, MAX_MATCHES, searchable } from './log-search';

describe('a search in a log', () => {
  it('finds every place, in any case, none twice', () => {
    const lines = searchable(['Error and error', 'none', 'aaa']);
    expect(findInLines(lines, 'ERROR').matches).toEqual([
      { line: 0, start: 0 },
      { line: 0, start: 10 },
    ]);
    expect(findInLines(lines, 'aa').matches).toEqual([{ line: 2, start: 0 }]);
    expect(findInLines(lines, '').matches).toEqual([]);
  });

  it('keeps places right where a small letter is longer', () => {
    expect(findInLines(searchable(['İ error']), 'error').matches).toEqual([
      { line: 0, start: 2 },
    ]);
  });

  it('stops counting and says so', () => {
    const matches = findInLines(Array<string>(MAX_MATCHES + 1).fill('x'), 'x');
    expect([matches.matches.length, matches.isCut]).toEqual([
      MAX_MATCHES,
      true,
    ]);
    expect(findInLines(Array<string>(MAX_MATCHES).fill('x'), 'x').isCut).toBe(
      false,
    );
  });
});
