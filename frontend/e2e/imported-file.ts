/**
 * A file that pytest-benchmark wrote is imported in the browser: it is recognised, its suite and judging are chosen, and
 * then it has a matrix, though no agent announced its suite.
 */
import { fileURLToPath } from 'node:url';

import { expect, type Page } from '@playwright/test';

import { checkPageAtBothWidths } from './page-check';

const NAME = 'pytest_benchmark-5.3.1.json';
const FILE = new URL(`../../contract/tests/captured/${NAME}`, import.meta.url);

export async function importFile(page: Page): Promise<void> {
  await page.goto('/imports');
  await page.getByLabel(/Drop files here/).setInputFiles(fileURLToPath(FILE));
  const card = page.getByRole('article', { name: NAME });
  await expect(card.getByText('recognised')).toBeVisible();
  await expect(card.getByText('pytest-benchmark 5.3.1')).toBeVisible();
  await page.getByLabel('Target that measured').fill('ci-7');
  await expect(page.getByRole('combobox', { name: 'Suite' })).toHaveValue('');
  await page.getByRole('checkbox', { name: /^Judge/ }).check();
  await checkPageAtBothWidths(page, 'imports-recognised');
  await page.getByRole('button', { name: 'Import 1 file' }).click();
  await card.getByRole('link', { name: / series$/ }).click();
  await expect(page.getByText(/^judged/)).toBeVisible();
  await page.goto('/matrix?suite=pytest_benchmark');
  await expect(
    page.getByRole('columnheader', { name: /ci-7 imported/ }),
  ).toBeVisible();
  await checkPageAtBothWidths(page, 'matrix-imported');
}
