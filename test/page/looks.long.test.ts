import type { Locator } from 'playwright-core';
import {
  type BrowserStage,
  openMore,
  place,
  startBrowserStage,
  takeTestWallet,
  type Visit,
} from '../support/browser-stage';
import { describeInBrowser } from '../support/chromium';
import { DESK, LOOKS, looksRight, NARROW, PHONE, violations } from '../support/looks';
import { ADMIN_TOKEN } from '../support/settings';
import type { OpenMarket } from '../support/trader';
import { eventually, soon } from '../support/waiting';

/** How much parts of the page have moved; from here on a browser calls it "needs improvement". */
const SHIFT_MAX = 0.1;
/** One row of buttons. */
const ROW_PX_MAX = 60;
const FINGER_PX = 40;
/** Many of them stand one upon another. */
const LEVEL_PX = 36;
const BOOK_PX_MAX = 480;
const DOT_PX = 8;
const SUM_SHIFTS = `
  let sum = 0;
  const add = (shifts) => { for (const { value } of shifts) sum += value; };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: 'layout-shift' });
  window.shiftsUntilNow = () => { add(observer.takeRecords()); return sum; };
`;

describeInBrowser('how the page looks', () => {
  let stage: BrowserStage;
  let ended: OpenMarket;
  beforeAll(async () => {
    stage = await startBrowserStage();
    ended = await stage.openMarket({ question: 'Did it rain yesterday?', category: 'weather' });
    await stage.maker.submit(ended, { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 });
    await stage.trader().submit(ended, { side: 'BUY', outcome: 1, pips: 4_000, lots: 1_000 });
    const sent = { token: ADMIN_TOKEN, body: { outcomeIndex: 0, evidence: 'https://weather.example/' } };
    const { status, text } = await stage.web().client.post(`/admin/markets/${ended.id}/resolve`, sent);
    if (status >= 300) throw new Error(text);
  });
  afterAll(() => stage?.stop());

  const close = ({ page }: Visit): Promise<void> => page.context().close();

  test.each(LOOKS)(
    '%s at %o: list, market, sheet, portfolio and an ended market are accessible, and nothing overflows',
    async (colorScheme, viewport) => {
      const visit = await stage.open({ colorScheme, viewport });
      const { page } = visit;
      const right = (what: string): Promise<void> => looksRight(what, page);
      await right('list and market, signed out');
      await takeTestWallet(visit);
      await place(visit, { price: '40', shares: '10' });
      await place(visit, { type: 'IOC', price: '60', shares: '3' });
      await page.locator('.position').waitFor();
      await right('list and market, signed in');
      const bar = page.getByLabel('On this phone');
      if (await bar.isVisible()) {
        await bar.getByRole('button', { name: /^Yes/ }).click();
        await visit.ticket.getByRole('button', { name: 'Back to the market' }).waitFor();
        await right('the ticket as a sheet');
        await visit.ticket.getByRole('button', { name: 'Back to the market' }).click();
      }
      await page.goto(`${stage.url}/portfolio`);
      await page.getByTestId('position').first().waitFor();
      await right('portfolio');
      await page.goto(`${stage.url}/m/${ended.slug}`);
      await page.locator('[data-testid=state][data-status=RESOLVED]').waitFor();
      await right('an ended market');
      await close(visit);
    },
  );

  test.each([360, PHONE.width, NARROW.width])(
    'long names, a question of one word and a profile of many marks stay within a window of %i pixels',
    async (width) => {
      const outcomes = ['International Business Machines', 'Somebody else from the other one'];
      const market = await stage.openMarket({ question: 'Q'.repeat(300), outcomes, category: 'long' });
      const trader = stage.trader();
      await stage.maker.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 });
      await trader.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 500 });
      await trader.send('PATCH', '/me/profile', { bio: 'Z', portfolioPublic: true });
      const visit = await stage.open({ viewport: { width, height: 700 } }, undefined, `/m/${market.slug}`);
      const { page } = visit;
      await visit.ticket.getByRole('button', { name: /^Somebody else.*¢$/ }).click();
      await looksRight('a market, signed out', page);
      await page.goto(`${stage.url}/explore?category=long`);
      await page
        .getByRole('button', { name: /^Somebody else/ })
        .first()
        .waitFor();
      await looksRight('the cards of markets', page);
      await page.goto(`${stage.url}/u/${trader.address}`);
      await page.getByTestId('holdings').getByRole('listitem').waitFor();
      await looksRight('a profile', page);
      const head = (): Promise<Buffer> => page.locator('.person-address').screenshot();
      const before = await head();
      await trader.send('PATCH', '/me/profile', { bio: `Z${'\u0301'.repeat(279)}` });
      await page.reload();
      await page.getByTestId('holdings').getByRole('listitem').waitFor();
      expect((await head()).equals(before)).toBe(true);
      await close(visit);
    },
  );

  test('on a phone the market comes first under a head of one row, the list is behind Markets, and the sheet has the question', async () => {
    const visit = await stage.open({ viewport: NARROW, hasTouch: true, isMobile: true });
    const { page, ticket } = visit;
    const question = (await page.locator('h1').textContent()) ?? '';
    expect(await page.locator('nav.markets').isVisible()).toBe(false);
    const topOf = async (selector: string) => (await page.locator(selector).boundingBox())?.y ?? Number.NaN;
    const rowOf = async (selector: string) => (await page.locator(selector).boundingBox())?.height;
    expect(await rowOf('.top')).toBeLessThanOrEqual(ROW_PX_MAX);
    expect(await topOf('h1')).toBeLessThan(NARROW.height / 4);
    // The dot stands for the word, which has no room.
    expect((await page.locator('.connection .dot').boundingBox())?.width).toBe(DOT_PX);
    // Old prices say so in a row below it, which covers the page and moves nothing.
    const atFirst = await topOf('h1');
    await page.evaluate("document.documentElement.dataset.feed = 'old'");
    expect((await page.locator('.connection').boundingBox())?.width).toBe(NARROW.width);
    expect(await topOf('h1')).toBe(atFirst);
    expect(await topOf('.connection')).toBeGreaterThan(ROW_PX_MAX - 5);
    await page.evaluate("document.documentElement.dataset.feed = 'live'");
    const heights = await page
      .locator('.top .button, .chart .chip, .share')
      .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().height));
    expect(heights.length).toBeGreaterThan(0);
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(FINGER_PX);
    const bar = page.getByLabel('On this phone');
    const opener = bar.getByRole('button', { name: /^Yes/ });
    const back = ticket.getByRole('button', { name: 'Back to the market' });
    const hasFocus = (button: Locator) => button.evaluate((it) => it === it.ownerDocument.activeElement);
    await opener.tap();
    await ticket.getByText(question, { exact: true }).waitFor();
    await soon(() => hasFocus(back)).toBe(true);
    await back.tap();
    await soon(() => hasFocus(opener)).toBe(true);
    await takeTestWallet(visit);
    expect(await rowOf('.top')).toBeLessThanOrEqual(ROW_PX_MAX);
    await place(visit, { type: 'IOC', price: '60', shares: '3' });
    await page.locator('.position').waitFor();
    expect(await topOf('.mine')).toBeLessThan(await topOf('.activity'));
    await page.locator('.activity').getByRole('button', { name: 'Book', exact: true }).tap();
    const levels = page.locator('.level');
    await levels.first().waitFor();
    const rows = await levels.evaluateAll((all) => all.map((it) => it.getBoundingClientRect().height));
    expect(Math.min(...rows)).toBeGreaterThanOrEqual(LEVEL_PX);
    expect((await page.getByTestId('book').boundingBox())?.height).toBeLessThanOrEqual(BOOK_PX_MAX);
    // A wallet's own level shows the button that cancels, beside the price and not over it.
    await place(visit, { type: 'GTC', price: '20', shares: '3' });
    const own = page.getByTestId('level').filter({ has: page.locator('.level-cancel') });
    const cancel = own.locator('.level-cancel');
    expect(await cancel.evaluate((it) => it.ownerDocument.defaultView?.getComputedStyle(it).opacity)).toBe(
      '1',
    );
    const textAt = await own.locator('.level-price').evaluate((it) => {
      const range = it.ownerDocument.createRange();
      range.selectNodeContents(it);
      return range.getBoundingClientRect().left;
    });
    const ends = await cancel.evaluate((it) => it.getBoundingClientRect().right);
    expect(textAt).toBeGreaterThanOrEqual(ends);
    await cancel.tap();
    await own.waitFor({ state: 'detached' });
    await bar.getByRole('link', { name: 'Markets' }).tap();
    await page.locator('.markets-page').getByText(question).first().waitFor();
    await close(visit);
  });

  test('the ticket is within reach on a phone, and the reason of a refusal can be read there', async () => {
    const visit = await stage.open({ viewport: PHONE, hasTouch: true, isMobile: true });
    await visit.page.getByLabel('On this phone').getByRole('button', { name: /^No/ }).tap();
    await eventually(
      () => visit.ticket.getByRole('button', { name: 'Buy', exact: true }).boundingBox(),
      (box) => {
        expect(box?.y).toBeGreaterThanOrEqual(0);
        expect(box?.y).toBeLessThan(PHONE.height);
      },
    );
    await soon(() => visit.ticket.getByRole('button', { name: /^No/ }).getAttribute('aria-pressed')).toBe(
      'true',
    );
    await openMore(visit.ticket);
    await visit.ticket.getByLabel('Price').fill('142');
    await visit.ticket.getByLabel('Shares').fill('5');
    await visit.ticket.locator('button[type=submit]').tap();
    await soon(() => visit.ticket.getByRole('alert').textContent()).toBe('A price lies between 1¢ and 99¢.');
    expect(await violations(visit.page)).toEqual([]);
    // Below 16 pixels iOS zooms into a field.
    const sizes = await visit.page
      .locator('input, select')
      .evaluateAll((fields) =>
        fields.map((field) => field.ownerDocument.defaultView?.getComputedStyle(field).fontSize),
      );
    expect(new Set(sizes)).toEqual(new Set(['16px']));
    const address = visit.page.url();
    const sheet = visit.page.locator('.ticket-sheet');
    await visit.page.goBack();
    await sheet.waitFor({ state: 'detached' });
    expect(visit.page.url()).toBe(address);
    await visit.page.getByLabel('On this phone').getByRole('button', { name: /^No/ }).tap();
    await sheet.getByRole('button', { name: 'Back to the market' }).tap();
    await sheet.waitFor({ state: 'detached' });
    expect(visit.page.url()).toBe(address);
    await close(visit);
  });

  test('the theme is the system’s until the reader chooses, and the choice is stored', async () => {
    const visit = await stage.open({ colorScheme: 'dark' });
    const { page } = visit;
    const theme = (): Promise<string> => page.evaluate('document.documentElement.dataset.theme');
    await soon(() => theme()).toBe('dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await eventually(theme, (shown) => expect(shown).toBe('light'));
    await page.getByRole('button', { name: 'Switch to the dark theme' }).click();
    await page.reload();
    await soon(() => theme()).toBe('dark');
    await close(visit);
  });

  test.each([
    ['a desk', DESK],
    ['a phone', PHONE],
    ['the narrowest phone', NARROW],
  ])('parts that load later move nothing on %s', async (_where, viewport) => {
    const visit = await stage.open({ viewport }, (page) => page.addInitScript(SUM_SHIFTS));
    await visit.page.getByTestId('chart').locator('canvas').first().waitFor();
    await visit.page.locator('[data-testid=level]').first().waitFor();
    await visit.page.waitForLoadState('networkidle');
    // The browser tells a shift after the frame that made it.
    const shift = await visit.page.evaluate<number>(
      'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(window.shiftsUntilNow()))))',
    );
    expect(shift).toBeLessThan(SHIFT_MAX);
    await close(visit);
  });

  test('the page shows the finest prices, and midpoints between them', async () => {
    const fine = await stage.openMarket({ tickSize: '0.0001', question: 'How fine?' });
    await stage.maker.submit(fine, { side: 'BUY', outcome: 0, pips: 1_995, lots: 1_000 });
    await stage.maker.submit(fine, { side: 'BUY', outcome: 1, pips: 8_000, lots: 123 });
    const visit = await stage.open({}, undefined, `/?market=${fine.slug}`);
    await visit.page
      .locator('[data-testid=level][data-side=ask][data-price="0.2"][data-size="1.23"]')
      .waitFor();
    await visit.page.getByTestId('market').filter({ hasText: '20%' }).waitFor();
    await soon(() => visit.page.locator('.ladder-middle').textContent()).toContain('Mid 19.98¢Spread 0.05¢');
    expect(visit.complaints).toEqual([]);
    await close(visit);
  });

  test('the page reports an exchange without markets, and an unknown market', async () => {
    const visit = await stage.open();
    await visit.page.getByLabel('Search markets').fill('nothing is called like this');
    await visit.page.getByText('No market found').waitFor();
    await visit.page.getByLabel('Search markets').fill('lisbon');
    await visit.page.getByTestId('market').waitFor();
    await visit.page.goto(`${stage.url}/?market=no-such-market`);
    await visit.page.getByText('Market not found').waitFor();
    expect(visit.outside).toEqual([]);
    await close(visit);
  });
});
