// Tests of the import-circle check: which circles it finds, and how it names them.

import { circles } from './boundaries.mjs';

describe('import circles', () => {
  it('are named by the files in the order they import each other', () => {
    const imports = new Map([
      ['page', ['report', 'search']],
      ['report', ['table']],
      ['table', ['report']],
      ['search', []],
    ]);
    expect(circles(imports)).toEqual([['report', 'table', 'report']]);
  });

  it('do not exist where two files import a third', () => {
    const imports = new Map([
      ['chart', ['types', 'plot']],
      ['plot', ['types']],
      ['types', []],
    ]);
    expect(circles(imports)).toEqual([]);
  });
});
