import { fireEvent, render, screen } from '@testing-library/react';
import { onTestFinished, vi } from 'vitest';

import { ScrollRegion } from './scroll-region';

/** Gives every box these widths, because jsdom does no layout. */
function stubWidths(clientWidth: number, scrollWidth: number): void {
  const stubs = [
    vi
      .spyOn(Element.prototype, 'clientWidth', 'get')
      .mockReturnValue(clientWidth),
    vi
      .spyOn(Element.prototype, 'scrollWidth', 'get')
      .mockReturnValue(scrollWidth),
  ];
  onTestFinished(() => stubs.forEach((stub) => stub.mockRestore()));
}

const marks = () =>
  [...document.querySelectorAll('[data-more]')].map((mark) =>
    mark.getAttribute('data-more'),
  );

describe('a box that scrolls sideways', () => {
  it('marks the edges beyond which there is more, as it is scrolled', () => {
    stubWidths(390, 900);
    render(<ScrollRegion label="Gates">wide</ScrollRegion>);
    const region = screen.getByRole('region', { name: 'Gates' });
    expect(marks()).toEqual(['after']);
    region.scrollLeft = 100;
    fireEvent.scroll(region);
    expect(marks()).toEqual(['before', 'after']);
    region.scrollLeft = 510;
    fireEvent.scroll(region);
    expect(marks()).toEqual(['before']);
  });

  it('has no mark where everything fits', () => {
    stubWidths(900, 900);
    render(<ScrollRegion label="Gates">narrow</ScrollRegion>);
    expect(marks()).toEqual([]);
  });
});
