import {
  formatToStep,
  formatFigure,
  formatInterval,
  formatNumber,
  formatPercent,
  formatRatio,
  formatShare,
  formatValue,
  keepFiguresUnbroken,
} from './units';

describe('formatting measured values', () => {
  it.each([
    [0.4, 'ns', '0.40 ns'],
    [999, 'ns', '999 ns'],
    [12_345, 'ns', '12.3 µs'],
    [3_100_000, 'ns', '3.10 ms'],
    [2.5e9, 'ns', '2.50 s'],
    [1536, 'bytes', '1.50 KiB'],
    [3_400_000, 'op/s', '3.40 M op/s'],
    [2 ** 30, 'bytes/s', '1.00 GiB/s'],
    [12_000, 'count', '12,000'],
  ] as const)('shows %d %s as %s', (value, unit, words) => {
    expect(formatValue(value, unit)).toBe(words);
  });

  it('never rounds a non-zero number to nothing', () => {
    expect(formatNumber(0.000_12)).toBe('0.00012');
    expect(formatShare(0.0004)).toBe('< 1 %');
    expect(formatShare(0.9996)).toBe('> 99 %');
  });

  it('shows a count without decimals', () => {
    expect(formatFigure(36)).toBe('36');
    expect(formatFigure(0.05)).toBe('0.05');
  });

  it('shows exactly none and exactly all as such', () => {
    expect(formatShare(0)).toBe('0 %');
    expect(formatShare(1)).toBe('100 %');
  });

  it('shows a dash where there is no figure', () => {
    expect(formatRatio(null)).toBe('–');
    expect(formatInterval(0.9, null)).toBe('–');
    expect(formatValue(Number.NaN, 'ns')).toBe('–');
  });
});

describe('values that stand close together', () => {
  it('get as many digits as it takes to tell them apart', () => {
    expect(formatToStep(1_201_000, 'ns', 1000)).toBe('1.201 ms');
    expect(formatToStep(1_200_000, 'ns', 100_000)).toBe('1.2 ms');
    expect(formatToStep(2_500_000, 'op/s', 500_000)).toBe('2.5 M op/s');
    expect(formatToStep(0, 'ns', 5)).toBe('0 ns');
  });
});

describe('a share as a percentage', () => {
  it.each([
    [0.03, '3 %'],
    [0.07, '7 %'],
    [0.035, '3.5 %'],
    [0.0281, '2.81 %'],
    [0.0001, '0.01 %'],
    [0, '0 %'],
  ])('%d reads as %s', (share, words) =>
    expect(formatPercent(share)).toBe(words),
  );
});

describe('the words of the server', () => {
  it('keep a figure and its percent sign on one line', () => {
    expect(keepFiguresUnbroken('2.6 % slower (p = 6.5e-55)')).toBe(
      '2.6\u00a0% slower (p\u00a0=\u00a06.5e\u201155)',
    );
  });
});
