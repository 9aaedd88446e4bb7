/** The journey in a real browser against the server of PACELINE_E2E_URL and PACELINE_E2E_LINK. */
import { defineConfig } from '@playwright/test';
import { WIDE } from './e2e/page-check';
import { WITHIN_MS } from './e2e/waiting';

export default defineConfig({
  testDir: './e2e',
  outputDir: './test-results',
  workers: 1,
  retries: 0,
  timeout: 4 * WITHIN_MS,
  expect: { timeout: WITHIN_MS },
  reporter: [['list']],
  use: {
    ...(process.env.PACELINE_E2E_URL === undefined
      ? {}
      : { baseURL: process.env.PACELINE_E2E_URL }),
    trace: 'retain-on-failure',
    viewport: WIDE,
    launchOptions: {
      executablePath: process.env.PACELINE_CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-background-networking'],
    },
  },
});
