import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { describeInBrowser, startChromium } from '../support/chromium';
import { type Demo, startDemo } from '../support/demo';
import { ROOT } from '../support/processes';
import { soon } from '../support/waiting';

/** The pictures of docs/ are those that this walk takes: `PICTURES=1 npx jest -i test/page/demo` keeps them. */
const KEEPS_PICTURES = process.env.PICTURES === '1';
const PICTURE_BYTES = { min: 10_000, max: 200_000 };
const DESK = { width: 1_184, height: 620 };
const PHONE = { width: 390, height: 844 };
const STEP_MS_MAX = 150_000;

const CLICKS_MAX = 4;
/** Clicks of the pointer, and the fields that something was typed into. */
const COUNT_WORK = `
  window.work = { clicks: 0, fields: [] };
  addEventListener('pointerdown', () => { window.work.clicks += 1; }, true);
  addEventListener('input', ({ target }) => {
    if (!window.work.fields.includes(target.id)) window.work.fields.push(target.id);
  }, true);
`;
const BOUGHT = /^Bought /;
/** The bots move the book all the time: another trader may take what a person wanted, and then the person presses again. */
const PRESSES_MAX = 5;

describeInBrowser('the demo that npm start opens', () => {
  let demo: Demo;
  let browser: Browser;
  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), startChromium()]);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  async function open(options: BrowserContextOptions, at = '/'): Promise<Page> {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(STEP_MS_MAX);
    await context.addInitScript(COUNT_WORK);
    const page = await context.newPage();
    await page.goto(demo.url + at);
    await whole(page);
    return page;
  }

  /** Live, with a price on both sides and a chart: the bots have come. */
  async function whole(page: Page): Promise<void> {
    await page.locator('[data-testid=connection][data-state=live]').waitFor();
    for (const side of ['bid', 'ask'])
      await page.locator(`[data-testid=level][data-side=${side}]`).first().waitFor();
    await page.getByTestId('chart').locator('canvas').first().waitFor();
  }

  async function draw(page: Page, name: string): Promise<void> {
    const picture = await page.screenshot({ type: 'png' });
    expect(picture.length).toBeGreaterThan(PICTURE_BYTES.min);
    expect(picture.length).toBeLessThan(PICTURE_BYTES.max);
    if (KEEPS_PICTURES) writeFileSync(path.join(ROOT, `docs/${name}.png`), picture);
  }

  /** Presses the button of the ticket until something was bought. Returns how often that was. */
  async function press(page: Page): Promise<number> {
    const ticket = page.getByTestId('ticket');
    const said = ticket
      .getByRole('status')
      .or(ticket.getByRole('alert'))
      .filter({ hasNotText: /^No answer yet/ });
    for (let presses = 1; ; presses++) {
      await page.locator('[data-testid=connection][data-state=live]').waitFor();
      await ticket.locator('button[type=submit]').click();
      const words = (await said.first().textContent()) ?? '';
      if (BOUGHT.test(words)) return presses;
      if (presses === PRESSES_MAX) throw new Error(words);
    }
  }

  async function buy(page: Page, dollars: string): Promise<void> {
    await page.getByTestId('ticket').getByLabel('Amount').fill(dollars);
    await press(page);
  }

  test('a stranger trades after four clicks and one number, and no order of theirs waits in the book', async () => {
    const page = await open({ viewport: DESK });
    const ticket = page.getByTestId('ticket');
    await ticket.getByLabel('Amount').click();
    await page.keyboard.type('20');
    await ticket.locator('button[type=submit]').click();
    await ticket.getByRole('button', { name: 'Start with test funds' }).click();
    await page.getByTestId('account').filter({ hasText: '$' }).waitFor();
    const again = (await press(page)) - 1;
    await page.locator('[data-testid=order][data-status=FILLED]').waitFor();
    await soon(() => page.locator('[data-testid=order]').count()).toBe(1 + again);
    expect(await page.locator('[data-testid=order][data-status=OPEN]').count()).toBe(0);
    const work = await page.evaluate<{ clicks: number; fields: string[] }>('window.work');
    expect(work.clicks - again).toBeLessThanOrEqual(CLICKS_MAX);
    expect(work.fields).toEqual(['ticket-amount']);
    await page.context().close();
  });

  test('a visitor of the demo finds a paid market, a paused one, an event of three and, by one link, the console', async () => {
    const page = await open({ viewport: DESK });
    for (const [shelf, question] of [
      ['RESOLVED', 'Do two and two make four?'],
      ['ALL', 'Will it rain on the demo at noon?'],
    ] as const) {
      await page.getByLabel('Show', { exact: true }).selectOption(shelf);
      await page.getByTestId('market').filter({ hasText: question }).waitFor();
    }
    await page.goto(`${demo.url}/e/money-${new Date().getUTCFullYear() + 1}`);
    await page.getByTestId('event-market').nth(2).getByRole('link').click();
    await whole(page);
    await page.goto(demo.operatorUrl);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.context().close();
  });

  test('the pictures of the documentation: a market, a portfolio, an event, a chart, holders, leaders, the dark theme, a phone and the console', async () => {
    const desk = await open({ viewport: DESK, colorScheme: 'light' });
    await desk.getByRole('button', { name: 'Got it' }).click();
    await desk.getByRole('button', { name: 'Test wallet', exact: true }).click();
    await desk.getByTestId('account').filter({ hasText: '$' }).waitFor();
    await buy(desk, '120');
    await desk.locator('.position').first().waitFor();
    await draw(desk, 'page-market');
    for (const row of [1, 2]) {
      const market = desk.getByTestId('market').nth(row);
      await market.click();
      const question = (await market.locator('.market-row-question').textContent()) ?? '';
      await desk.getByRole('heading', { level: 1, name: question }).waitFor();
      await whole(desk);
      await buy(desk, '75');
    }
    await desk.getByTestId('account').click();
    await desk.getByTestId('position').nth(2).waitFor();
    await desk.getByTestId('curve').waitFor();
    await desk
      .getByTestId('figures')
      .filter({ hasText: / today/ })
      .waitFor();
    await draw(desk, 'page-portfolio');
    const address = await desk.getByTestId('account').getAttribute('data-address');
    await desk.goto(`${demo.url}/u/${address}`);
    await desk.getByRole('checkbox').nth(1).check();
    await desk.getByRole('button', { name: 'Save' }).click();
    await desk.goto(`${demo.url}/leaders`);
    await desk.getByTestId('leader').first().waitFor();
    await draw(desk, 'page-leaders');
    // The coin has no past.
    await desk.getByTestId('market').filter({ hasText: 'the warmest' }).click();
    await desk.getByRole('heading', { level: 1, name: /the warmest/ }).waitFor();
    await whole(desk);
    await desk.getByRole('button', { name: 'Full chart' }).click();
    await desk.locator('.chart-full canvas').first().waitFor();
    await draw(desk, 'page-chart');
    await desk.locator('.activity').getByRole('button', { name: 'Top holders', exact: true }).click();
    await desk.getByTestId('holder').first().scrollIntoViewIfNeeded();
    await draw(desk, 'page-holders');
    await desk.goto(`${demo.url}/e/money-${new Date().getUTCFullYear() + 1}`);
    await desk.getByTestId('event-market').nth(2).waitFor();
    await desk.getByTestId('event-chart').locator('path.event-line').first().waitFor();
    await draw(desk, 'page-event');
    await draw(await open({ viewport: DESK, colorScheme: 'dark' }), 'page-dark');
    await draw(await open({ viewport: PHONE, colorScheme: 'light' }), 'page-phone');
    await desk.goto(demo.operatorUrl);
    await desk.getByRole('link', { name: 'Markets', exact: true }).click();
    await desk.getByRole('heading', { level: 1, name: 'Markets' }).waitFor();
    await desk.locator('tbody tr').nth(2).waitFor();
    await draw(desk, 'console');
  });
});
