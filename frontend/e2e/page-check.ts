/**
 * What every page is held to as the journey passes it: axe A and AA in both themes, no overflow. The pages that people
 * open most are held to it on a phone's width, too.
 */
import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const THEMES = ['light', 'dark'] as const;
/** Windows in CSS pixels. The journey has the wide one. */
export const WIDE = { width: 1400, height: 900 };
const NARROW = { width: 390, height: 844 };

async function useTheme(
  page: Page,
  theme: (typeof THEMES)[number],
): Promise<void> {
  const current = await page
    .locator('html')
    .getAttribute('data-mantine-color-scheme');
  if (current === theme) return;
  const control = page.getByRole('button', { name: `Use the ${theme} theme` });
  if (await control.isVisible()) await control.click();
  else
    await page.evaluate(
      (to) =>
        document.documentElement.setAttribute('data-mantine-color-scheme', to),
      theme,
    );
  await expect(page.locator('html')).toHaveAttribute(
    'data-mantine-color-scheme',
    theme,
  );
}

export async function checkPage(page: Page, name: string): Promise<void> {
  for (const theme of THEMES) {
    // One page has one theme at a time.
    // oxlint-disable-next-line no-await-in-loop
    await checkPageInTheme(page, name, theme);
  }
}

export async function checkPageAtBothWidths(
  page: Page,
  name: string,
): Promise<void> {
  await checkPage(page, name);
  await page.setViewportSize(NARROW);
  await checkPage(page, `${name}-${NARROW.width}`);
  await page.setViewportSize(WIDE);
}

async function checkPageInTheme(
  page: Page,
  name: string,
  theme: (typeof THEMES)[number],
): Promise<void> {
  await useTheme(page, theme);
  await page.mouse.move(0, 0);
  // Colours fade for 150 ms after a change of theme; measured in between, contrast is neither theme's.
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState }) => playState !== 'running'),
  );
  await page.screenshot({
    path: `test-results/${name}-${theme}.png`,
    fullPage: true,
  });
  const { violations } = await new AxeBuilder({ page })
    .withTags(TAGS)
    .analyze();
  const summaries = violations.map(({ id, nodes }) => ({
    id,
    where: nodes.slice(0, 3).map(({ html }) => html),
  }));
  expect(summaries, `axe on ${name}, ${theme}`).toEqual([]);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - window.innerWidth,
  );
  expect(overflow, `${name} is wider than the window`).toBeLessThanOrEqual(0);
}
