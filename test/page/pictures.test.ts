import path from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { describeInBrowser, startChromium } from '../support/chromium';
import { ROOT } from '../support/processes';

/**
 * Takes the pictures of docs/ from a running demo: `PICTURES=http://localhost:3000 npx jest test/page/pictures`. Without the
 * variable it takes none.
 */
const { PICTURES: url } = process.env;
const DESK = { width: 1_184, height: 620 };
const DRAWING_MS_MAX = 120_000;
const PHONE = { width: 390, height: 844 };

async function draw(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: path.join(ROOT, `docs/page-${name}.png`), type: 'png' });
}

(url === undefined ? describe.skip : describeInBrowser)('pictures of the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  async function open(options: BrowserContextOptions, at = '/'): Promise<Page> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(`${url}${at}`);
    await page.locator('[data-testid=connection][data-state=live]').waitFor();
    await page.getByTestId('chart').locator('canvas').first().waitFor();
    return page;
  }

  async function buy(page: Page, dollars: string): Promise<void> {
    await page.getByTestId('ticket').getByLabel('Amount').fill(dollars);
    await page.getByTestId('ticket').locator('button[type=submit]').click();
    await page
      .getByTestId('ticket')
      .getByText(/^Bought/)
      .waitFor();
  }

  test(
    'the pictures of market, portfolio, dark theme and phone are taken',
    async () => {
      const desk = await open({ viewport: DESK, colorScheme: 'light' });
      await desk.getByRole('button', { name: 'Got it' }).click();
      await desk.getByRole('button', { name: 'Test wallet' }).click();
      await desk.getByTestId('account').filter({ hasText: '$' }).waitFor();
      await buy(desk, '120');
      await desk.locator('.position').first().waitFor();
      await draw(desk, 'market');
      for (const row of [1, 2]) {
        await desk.getByTestId('market').nth(row).click();
        await desk.locator(`[data-testid=market][aria-current]`).nth(0).waitFor();
        await desk.locator('[data-testid=level][data-side=ask]').first().waitFor();
        await buy(desk, '75');
      }
      await desk.getByTestId('account').click();
      await desk.getByTestId('position').nth(2).waitFor();
      await draw(desk, 'portfolio');
      await draw(await open({ viewport: DESK, colorScheme: 'dark' }), 'dark');
      await draw(await open({ viewport: PHONE, colorScheme: 'light' }), 'phone');
    },
    DRAWING_MS_MAX,
  );
});
