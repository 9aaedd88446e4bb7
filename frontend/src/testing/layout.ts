/**
 * Gives every element a size, because jsdom does no layout and a chart that fills its parent would draw nothing.
 */
import { onTestFinished, vi } from 'vitest';

export function stubLayout(width = 960, height = 350): void {
  const box = vi
    .spyOn(Element.prototype, 'getBoundingClientRect')
    .mockReturnValue(new DOMRect(0, 0, width, height));
  onTestFinished(() => box.mockRestore());
}
