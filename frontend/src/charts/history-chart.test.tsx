import { fireEvent, render, screen } from '@testing-library/react';

import { stubLayout } from '../testing/layout';
import { HistoryChart } from './history-chart';
import type { HistoryPicture } from './history-picture';

function picture(format: HistoryPicture['format']): HistoryPicture {
  const points = [0, 1, 2].map((at) => ({
    key: `p${at}`,
    at,
    value: 100 + at,
    lower: 99,
    upper: 104,
    aside: false,
  }));
  return { points, levels: [], bands: [], marks: [], span: [0, 2], format };
}

describe('a history chart', () => {
  it('is not drawn anew when another point is chosen or read: with 500 points that is felt', () => {
    stubLayout();
    const format = vi.fn<HistoryPicture['format']>((value) => `${value} ns`);
    const drawn = picture(format);
    const rest = {
      picture: drawn,
      describe: (key: string) => [key],
      onChoose: () => {},
      onZoom: () => {},
    };
    const { container, rerender } = render(
      <HistoryChart {...rest} chosen="p0" />,
    );
    const before = format.mock.calls.length;
    expect(before).toBeGreaterThan(0);
    rerender(<HistoryChart {...rest} chosen="p2" />);
    fireEvent.pointerMove(container.firstElementChild as HTMLElement);
    expect(screen.getByText('p0')).toBeInTheDocument();
    expect(format).toHaveBeenCalledTimes(before);
  });

  it('is drawn anew when what it shows changes', () => {
    stubLayout();
    const rest = {
      describe: () => [],
      onChoose: () => {},
      onZoom: () => {},
      chosen: undefined,
    };
    const { rerender } = render(
      <HistoryChart {...rest} picture={picture((value) => `${value} ns`)} />,
    );
    const format = vi.fn<HistoryPicture['format']>((value) => `${value} bytes`);
    rerender(<HistoryChart {...rest} picture={picture(format)} />);
    expect(format).toHaveBeenCalled();
  });
});
