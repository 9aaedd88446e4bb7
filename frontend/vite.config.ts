/**
 * Configures the build, development server and test runner of the dashboard. `--mode fixtures` answers /api
 * from src/testing.
 */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

import { fixtureApi } from './testing/fixture-api.ts';

const backend = process.env.PACELINE_BACKEND ?? 'http://127.0.0.1:8000';

/** Tests that send requests. They need a page: their addresses are relative, and it refuses unexpected ones. */
const REQUEST_TESTS = ['src/api/errors.test.ts', 'src/api/targets.test.ts'];

export default defineConfig(({ mode }) => ({
  plugins: [react(), ...(mode === 'fixtures' ? [fixtureApi()] : [])],
  server: mode === 'fixtures' ? {} : { proxy: { '/api': backend } },
  build: {
    target: 'es2022',
    cssTarget: ['chrome111', 'firefox115', 'safari16.4'],
    // data: URLs would need their own allowance in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  test: {
    globals: true,
    css: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'threads',
    maxWorkers: 2,
    // Importing the application takes longer than most test files, so each worker imports it once. What a test
    // changed in the page, in storage and in timers is reset after it (src/testing/setup.ts).
    isolate: false,
    // Tests that render are .tsx files. The others do without a page, which takes over a second to make.
    projects: [
      {
        extends: true,
        test: {
          name: 'page',
          environment: 'jsdom',
          setupFiles: ['./src/testing/setup.ts'],
          include: ['src/**/*.test.tsx', ...REQUEST_TESTS],
        },
      },
      {
        extends: true,
        test: {
          name: 'plain',
          include: ['src/**/*.test.ts', 'testing/*.test.mjs'],
          exclude: REQUEST_TESTS,
        },
      },
    ],
  },
}));
