/**
 * Build, development server and test runner of the dashboard. `--mode fixtures` answers /api from
 * src/testing.
 */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

import { fixtureApi } from './testing/fixture-api.ts';

const backend = process.env.PACELINE_BACKEND ?? 'http://127.0.0.1:8000';

/** Tests of requests: those are relative to a page, and none may be unexpected. */
const CALLS = ['src/api/errors.test.ts', 'src/api/targets.test.ts'];

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
    pool: 'threads',
    maxWorkers: 2,
    // To import the application costs more than most files of tests: each worker does it once. What a test
    // leaves in the page, in storage and in timers is put back after each test (src/testing/setup.ts).
    isolate: false,
    // What renders is a .tsx; the rest needs no page, which takes over a second to make.
    projects: [
      {
        extends: true,
        test: {
          name: 'page',
          environment: 'jsdom',
          setupFiles: ['./src/testing/setup.ts'],
          include: ['src/**/*.test.tsx', ...CALLS],
        },
      },
      {
        extends: true,
        test: {
          name: 'plain',
          include: ['src/**/*.test.ts', 'testing/*.test.mjs'],
          exclude: CALLS,
        },
      },
    ],
  },
}));
