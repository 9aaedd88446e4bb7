/**
 * The journey of one visitor on the embedded shape: sign in by the printed link, ask for a run through the
 * form, watch it live, read the arms and the history, slow the native arm on purpose, see the confirmed
 * alert, acknowledge it, import another tool's file. Nothing is simulated here.
 */
import { expect, test, type Page } from '@playwright/test';

import { readFailedJob } from './failed-job';
import { importFile } from './imported-file';
import { checkPage, checkPageAtBothWidths, WIDE } from './page-check';

const SUITE = 'hashing';
const BENCHMARK = 'ledger_batch';
/** Percent of its work that the native arm repeats: sixteen times the work loses on any CPU. */
const SLOWDOWN = 1500;

function link(): string {
  const value = process.env.PACELINE_E2E_LINK;
  if (value === undefined)
    throw new Error(
      'set PACELINE_E2E_URL and PACELINE_E2E_LINK to a running server',
    );
  return value;
}

/** Anything the page's policy or its code complains about fails the journey at its end. */
function listen(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`page: ${error.message}`));
  page.on('console', (message) => {
    // A refused request is an answer the page shows; policy violations and errors of code are not.
    if (
      message.type() === 'error' &&
      !message.text().startsWith('Failed to load resource')
    ) {
      complaints.push(`console: ${message.text()}`);
    }
  });
  return complaints;
}

interface RunChoices {
  batches: readonly string[];
  slowdownPercent: number;
}

/** Asks for one benchmark at a few values through the form: the journey needs no more, and stays quick. */
async function startRun(
  page: Page,
  { batches, slowdownPercent }: RunChoices,
): Promise<void> {
  await page.goto(`/runs/new?suite=${SUITE}`);
  await page.getByRole('button', { name: 'The whole suite' }).click();
  await page.getByRole('button', { name: 'Select none' }).click();
  await page.locator(`input[type=checkbox][value=${BENCHMARK}]`).check();
  const values = (param: string) =>
    page.getByRole('group', { name: new RegExp(`^${param}\\b`) });
  for (const batch of batches) {
    // Chips are clicked one after the other, as a person does.
    // oxlint-disable-next-line no-await-in-loop
    await values('batch').getByText(batch, { exact: true }).click();
  }
  await values('message').getByText('150', { exact: true }).click();
  await page
    .getByLabel(/^Launches/)
    .fill(process.env.PACELINE_E2E_LAUNCHES ?? '3');
  await page
    .getByLabel(/^Rounds per launch/)
    .fill(process.env.PACELINE_E2E_ROUNDS ?? '12');
  const size =
    batches.length === 1 ? '1 group with' : `${batches.length} groups with`;
  await expect(
    page.getByRole('status', { name: 'Size of the run' }),
  ).toContainText(size);
  if (slowdownPercent > 0) {
    await page
      .getByLabel(/native_slowdown_percent/)
      .fill(String(slowdownPercent));
    await expect(
      page.getByText('will be marked “demonstration”'),
    ).toBeVisible();
  }
  await page.getByRole('button', { name: 'Start run' }).click();
  await expect(
    page.getByRole('heading', { level: 1, name: /hashing run/ }),
  ).toBeVisible();
}

/** Every way the arms are shown, each held to the same rules. */
async function readArms(page: Page): Promise<void> {
  await page.goto(`/arms?suite=${SUITE}&benchmark=${BENCHMARK}`);
  await expect(page.getByRole('table', { name: 'Comparisons' })).toBeVisible();
  await expect(
    page.getByRole('table', { name: 'Distribution per arm' }),
  ).toBeVisible();
  await checkPageAtBothWidths(page, 'arms');
  const switches = page.getByRole('list', { name: 'Arms' });
  await switches.getByRole('button', { name: 'native', exact: true }).click();
  await expect(page).toHaveURL(/hide=native/);
  await page.getByRole('button', { name: 'Show all arms' }).click();
  await page
    .getByRole('combobox', { name: 'X axis' })
    .selectOption({ label: 'arms side by side' });
  await expect(
    page.getByRole('img', {
      name: /^Ratio of time to fallback, arms side by side/,
    }),
  ).toBeVisible();
  await checkPage(page, 'arms-side-by-side');
  await page.getByText('Measured time', { exact: true }).click();
  await page.getByText('item', { exact: true }).click();
  await expect(page.getByRole('img', { name: /^time per item/ })).toBeVisible();
  await page.setViewportSize({ width: 768, height: 900 });
  await checkPage(page, 'arms-768');
  await page.setViewportSize(WIDE);
}

/** One run makes one point: everything that hangs on a series stands, and says what it still waits for. */
async function readHistory(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Matrix', exact: true }).first().click();
  await expect(page.getByRole('table', { name: /^Matrix of/ })).toBeVisible();
  await checkPage(page, 'matrix');
  await page.goto(`/series?suite=${SUITE}&benchmark=${BENCHMARK}`);
  const table = page.getByRole('table', { name: 'Series' });
  await expect(table).toBeVisible();
  await checkPageAtBothWidths(page, 'series-list');
  await table.getByRole('link').first().click();
  await expect(page.getByRole('slider', { name: 'Point' })).toBeVisible();
  await page
    .getByRole('textbox', { name: /Note for the selected point/ })
    .fill('The first night.');
  await page.getByRole('button', { name: 'Add note' }).click();
  await expect(page.getByRole('list', { name: 'Notes' })).toContainText(
    'The first night.',
  );
  await checkPageAtBothWidths(page, 'series');
  await page
    .getByRole('region', { name: 'Selected point' })
    .getByRole('link')
    .first()
    .click();
  await expect(
    page.getByRole('heading', { name: 'Completeness' }),
  ).toBeVisible();
  const run = new URL(page.url()).pathname.split('/').at(-1);
  await page.goto(`/compare?base=${run}&head=${run}`);
  await expect(
    page.getByRole('table', { name: 'Measurements of both sides' }),
  ).toBeVisible();
  await checkPageAtBothWidths(page, 'compare');
}

/** A rule is tried on the past and saved in shadow; then what people decide with, each held to the rules. */
async function decide(page: Page): Promise<void> {
  await page.goto(`/rules/new?suite=${SUITE}&benchmark=${BENCHMARK}`);
  await page.getByRole('textbox', { name: /^Minimum effect/ }).fill('25');
  await page.getByRole('textbox', { name: 'Name' }).fill('journey');
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await expect(page.getByRole('status', { name: 'Replay' })).toContainText(
    'In the last 30 days',
  );
  await checkPage(page, 'rule-new');
  await page.getByRole('button', { name: 'Save rule' }).click();
  await expect(page.getByRole('heading', { name: 'Definition' })).toBeVisible();
  await checkPage(page, 'rule');
  await page.goto('/rules');
  await expect(
    page.getByRole('table', { name: 'Rules', exact: true }),
  ).toContainText('journey');
  await checkPage(page, 'rules');
  await page.goto('/audit');
  await expect(page.getByRole('table', { name: 'Audit log' })).toContainText(
    'journey',
  );
  await checkPage(page, 'audit');
  for (const [address, heading] of [
    ['/policies', 'Usage policies'],
    ['/noise', 'Noise'],
    ['/agents', 'Agents'],
  ] as const) {
    // One page is looked at after the other.
    // oxlint-disable-next-line no-await-in-loop
    await page.goto(address);
    // oxlint-disable-next-line no-await-in-loop
    await expect(
      page.getByRole('heading', { level: 1, name: heading }),
    ).toBeVisible();
    // oxlint-disable-next-line no-await-in-loop
    await checkPageAtBothWidths(page, heading.toLowerCase().replace(' ', '-'));
  }
}

async function signIn(page: Page): Promise<void> {
  await page.goto(link());
  await expect(
    page.getByRole('heading', { level: 1, name: 'Overview' }),
  ).toBeVisible();
  expect(page.url()).not.toContain('token');
}

async function watchLive(page: Page): Promise<void> {
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  const table = page.getByRole('table', { name: 'Samples per case' });
  await expect(table).toBeVisible();
  await expect(table.getByRole('row').nth(2)).toBeVisible();
  await checkPage(page, 'run-live');
  await page.reload();
  // A run that could not tell yet measures another batch, which has samples once its first launch is warm.
  await expect(table).toBeVisible();
  await expect(page.getByRole('list', { name: 'Phases' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Verdicts' })).toBeVisible();
  await checkPageAtBothWidths(page, 'run-done');
}

test('a visitor signs in, watches a run, reads the arms and triages a confirmed alert', async ({
  page,
}) => {
  const complaints = listen(page);

  await test.step('sign in by link', async () => {
    await page.goto('/sign-in');
    await expect(
      page.getByRole('heading', { name: 'Sign in to Paceline' }),
    ).toBeVisible();
    await checkPage(page, 'sign-in');
    await signIn(page);
    await checkPage(page, 'overview-empty');
  });

  await test.step('read why a job failed', async () => {
    await readFailedJob(page);
  });

  await test.step('look at targets and the form', async () => {
    await page
      .getByRole('link', { name: 'Targets', exact: true })
      .first()
      .click();
    const table = page.getByRole('table', { name: 'Targets' });
    await expect(table).toBeVisible();
    await checkPageAtBothWidths(page, 'targets');
    await table.getByRole('link').first().click();
    await expect(
      page.getByRole('heading', { name: 'Fingerprint' }),
    ).toBeVisible();
    await checkPageAtBothWidths(page, 'target');
    await page.goto(`/runs/new?suite=${SUITE}`);
    await expect(
      page.getByRole('heading', { name: 'Demonstration knobs' }),
    ).toBeVisible();
    await checkPage(page, 'new-run');
  });

  await test.step('watch a run live, across a reload', async () => {
    await startRun(page, { batches: ['100', '1,000'], slowdownPercent: 0 });
    await watchLive(page);
    await page.goto('/runs');
    await expect(page.getByRole('table', { name: 'Runs' })).toBeVisible();
    await checkPageAtBothWidths(page, 'runs');
  });

  await test.step('read the arms', async () => {
    await readArms(page);
  });

  await test.step('read the history', async () => {
    await readHistory(page);
  });

  await test.step('write a rule and read what people decide with', async () => {
    await decide(page);
  });

  await test.step('slow the native arm on purpose and wait for the confirmed alert', async () => {
    await startRun(page, { batches: ['1,000'], slowdownPercent: SLOWDOWN });
    await expect(
      page.getByText('Its figures say nothing about the code.'),
    ).toBeVisible();
    await page.goto('/alerts?state=open');
    await expect(page.getByRole('table', { name: 'Alerts' })).toBeVisible();
    await expect(page.getByText('demonstration').first()).toBeVisible();
    await checkPageAtBothWidths(page, 'alerts');
  });

  await test.step('acknowledge it by keyboard', async () => {
    // Away from the theme control that was used last: Enter belongs to whatever has the focus.
    await page.locator('#main').focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name: 'Evidence' })).toBeVisible();
    await expect(
      page.getByText('confirmation', { exact: true }).first(),
    ).toBeVisible();
    await checkPageAtBothWidths(page, 'alert-open');
    await page.locator('#main').focus();
    await page.keyboard.press('a');
    await expect(page.getByText(/open → acknowledged/)).toBeVisible();
    await page.reload();
    await expect(page.getByText(/open → acknowledged/)).toBeVisible();
    await checkPage(page, 'alert-acknowledged');
    await page.goto('/');
    const acknowledged = page.getByRole('link', { name: /^acknowledged/ });
    await expect(acknowledged).toBeVisible();
    await checkPageAtBothWidths(page, 'overview');
    await acknowledged.click();
    await expect(page.getByRole('table', { name: 'Alerts' })).toBeVisible();
  });

  await test.step('import what another tool wrote', async () => {
    await importFile(page);
  });

  expect(complaints).toEqual([]);
});
