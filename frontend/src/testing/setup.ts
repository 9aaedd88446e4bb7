/** Adds what jsdom lacks, and intercepts requests: an unexpected request fails the test that made it. */
import '@testing-library/jest-dom/vitest';

import { notifications } from '@mantine/notifications';
import { cleanup, configure } from '@testing-library/react';

import { server } from './server';

// A busy machine loads a page's chunk slowly.
configure({ asyncUtilTimeout: 120_000 });

class NoResizeObserver implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

window.ResizeObserver = NoResizeObserver;
Object.defineProperty(document, 'fonts', {
  value: new EventTarget(),
  configurable: true,
});
Blob.prototype.arrayBuffer = function readBytes(this: Blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () =>
      resolve(reader.result as ArrayBuffer),
    );
    reader.addEventListener('error', () => reject(new Error('not readable')));
    reader.readAsArrayBuffer(this);
  });
};
window.scrollTo = () => undefined;
Element.prototype.scrollIntoView = () => undefined;
window.matchMedia = (query: string): MediaQueryList => ({
  matches: false,
  media: query,
  onchange: null,
  addListener: () => undefined,
  removeListener: () => undefined,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
  dispatchEvent: () => false,
});

beforeAll(() => {
  // The library registers this itself, but only in the first file of a worker, because it is imported once.
  (
    globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }
  ).IS_REACT_ACT_ENVIRONMENT = true;
  server.listen({ onUnhandledRequest: 'error' });
});
afterEach(() => {
  cleanup();
  notifications.clean(); // They live outside React, and the next test would find them.
  server.resetHandlers();
  window.localStorage.clear();
});
afterAll(() => server.close());
