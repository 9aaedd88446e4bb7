/** Reads a job whose build fails: its cause stands once, its log opens, and no page calls it inconclusive. */
import { readFile } from 'node:fs/promises';

import { expect, type Page } from '@playwright/test';

import { checkPage } from './page-check';

const SUITE = 'unbuildable';
/** What the compiler prints about `unbuildable/sum.c`, with GCC and with Clang. */
const ERROR = /sum\.c:2:\d+: error: .*undeclared/;

export async function readFailedJob(page: Page): Promise<void> {
  await page.goto(`/runs/new?suite=${SUITE}`);
  await page.getByRole('button', { name: 'Start run' }).click();
  await expect(
    page.getByRole('heading', { level: 1, name: /unbuildable run/ }),
  ).toBeVisible();
  await readCause(page);
  await readLog(page);
  await expectFailed(page, '/runs', 1);
  // Among the recent runs, and among those that failed since yesterday.
  await expectFailed(page, '/', 2);
}

async function readCause(page: Page): Promise<void> {
  const alert = page.getByRole('alert').filter({ hasText: 'The build failed' });
  await expect(alert).toBeVisible();
  await expect(alert).toHaveCount(1);
  await expect(
    alert.getByRole('region', { name: 'The first error' }).locator('strong'),
  ).toHaveText(ERROR);
  const missing = page.getByRole('list', { name: 'Missing cases' });
  await expect(missing.locator(':scope > li')).toHaveCount(1);
  await expect(missing).toContainText('6 cases: build failed');
  await checkPage(page, 'run-failed');
}

async function readLog(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open full log' }).click();
  const dialog = page.getByRole('dialog');
  await dialog
    .getByRole('textbox', { name: 'Search in the log' })
    .fill('undeclared_total');
  await expect(dialog.getByText(/^Match 1 of \d/)).toBeVisible();
  await expect(dialog.locator('mark[aria-current="true"]')).toHaveText(
    'undeclared_total',
  );
  const shown = await dialog
    .getByRole('region', { name: 'Full log' })
    .innerText();
  const link = dialog.getByRole('link', { name: 'Download' });
  await expect(link).toHaveAttribute(
    'href',
    /\/api\/v1\/jobs\/[^/]+\/log\?format=text/,
  );
  const downloading = page.waitForEvent('download');
  await link.click();
  const saved = await readFile(await (await downloading).path(), 'utf8');
  expect(saved).toMatch(ERROR);
  expect(shown).toContain(saved.split('\n').find((line) => ERROR.test(line)));
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
}

/** Every row about the run, `rows` of them, says that it failed. */
async function expectFailed(
  page: Page,
  path: string,
  rows: number,
): Promise<void> {
  await page.goto(path);
  const row = page.getByRole('row').filter({ hasText: SUITE });
  await expect(row).toHaveCount(rows);
  await expect(row.getByText('failed', { exact: true })).toHaveCount(rows);
  await expect(row.filter({ hasText: 'inconclusive' })).toHaveCount(0);
}
