import type { Page } from 'playwright-core';
import {
  type BrowserStage,
  heard,
  openMore,
  place,
  reason,
  said,
  startBrowserStage,
  state,
  submit,
  takeTestWallet,
  type Visit,
} from '../support/browser-stage';
import { describeInBrowser } from '../support/chromium';
import { ADMIN_TOKEN } from '../support/settings';
import type { OpenMarket } from '../support/trader';
import { eventually, soon, until } from '../support/waiting';
import { marketSteps } from './market-steps';
import { traderSteps } from './trader-steps';

const GAME = { question: 'Who wins the game?', outcomes: ['Lakers', 'Celtics'], category: 'sports' };

/** More than a market order waits for the connection. */
const OLD_MS = 11_000;

/** Those who wait for `released` go on after `release`. */
function hold(): { readonly released: Promise<void>; release(): void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { released, release: () => release() };
}

describeInBrowser('a product, not one screen', () => {
  let stage: BrowserStage;
  let visit: Visit;
  let game: OpenMarket;

  beforeAll(async () => {
    stage = await startBrowserStage();
    game = await stage.openMarket({ ...GAME, minOrderSize: '1' });
    await stage.maker.submit(game, { side: 'BUY', outcome: 0, pips: 2_600, lots: 20_000 });
    await stage.maker.submit(game, { side: 'BUY', outcome: 1, pips: 7_200, lots: 5_000 });
    await stage.maker.submit(game, { side: 'BUY', outcome: 1, pips: 7_100, lots: 20_000 });
    await stage.trader().submit(game, { side: 'BUY', outcome: 0, pips: 2_800, lots: 100 });
    visit = await stage.open({}, undefined, `/?market=${game.slug}`);
  });
  afterAll(() => stage?.stop());

  const admin = async (path: string, body?: object, method = 'POST'): Promise<void> => {
    const sent = { token: ADMIN_TOKEN, ...(body ? { body } : {}) };
    const { status, text } = await stage.web().client.call(method, path, sent);
    if (status >= 300) throw new Error(text);
  };

  test('outcomes have the names of the market everywhere', async () => {
    const { page, ticket } = visit;
    await ticket.getByRole('button', { name: /^Celtics/ }).click();
    await soon(() => page.locator('.ladder .card-title').textContent()).toBe('Order book Celtics');
    await soon(() => page.locator('.trades .card-title').textContent()).toBe('Recent trades Celtics');
    await eventually(
      () => page.locator('.chart-title').textContent(),
      (title) => expect(title).toMatch(/^Chance of Celtics 73%/),
    );
    await soon(() => ticket.textContent()).toMatch(/To win if Celtics/);
    await ticket.getByRole('button', { name: /^Lakers/ }).click();
    await soon(() => ticket.textContent()).not.toMatch(/\b(Yes|No)\b/);
  });

  test('a stranger’s first trade takes one number and three clicks, and no order stays in the book', async () => {
    const { page, ticket } = visit;
    const how = page.getByRole('region', { name: 'How this works' });
    await how.waitFor();
    await ticket.getByLabel('Amount').fill('20');
    await soon(() => ticket.locator('.summary').textContent()).toMatch(/Moves the price28¢ → 29¢/);
    await soon(() => ticket.getByTestId('ticket-cost').textContent()).toBe('$20.00');
    await submit(visit);
    await ticket.getByRole('button', { name: 'Start with test funds' }).click();
    await page.getByTestId('account').filter({ hasText: '$' }).waitFor();
    const button = ticket.locator('button[type=submit]');
    await soon(() => button.textContent()).toBe('Buy Lakers, $20');
    await button.click();
    expect(await said(visit)).toMatch(
      /^Bought (7\d(\.\d+)?) Lakers for \$(20|19\.99), pays \$7\d(\.\d+)? if Lakers · See position$/,
    );
    const filled = page.locator('[data-testid=order][data-status=FILLED]');
    await soon(() => filled.textContent()).toMatch(/Buy Lakers at market/);
    await how.waitFor({ state: 'detached' });
  });

  test('a market order waits for the book while signing in connects the socket again', async () => {
    const trading = await stage.openMarket({ question: 'Who waits?', minOrderSize: '1' });
    await stage.maker.submit(trading, { side: 'BUY', outcome: 1, pips: 6_000, lots: 1_000 });
    const again = hold();
    let mayConnect = Promise.resolve();
    const slow = (page: Page): Promise<void> =>
      page.routeWebSocket(/socket\.io/, async (socket) => {
        await mayConnect;
        socket.connectToServer();
      });
    const fresh = await stage.open({}, slow, `/?market=${trading.slug}`);
    mayConnect = again.released;
    // However slow the machine, the book does not get too old to be waited for.
    await fresh.page.clock.setFixedTime(Date.now());
    await fresh.ticket.getByLabel('Amount').fill('2');
    await takeTestWallet(fresh);
    await state(fresh.page, 'reconnecting');
    await submit(fresh);
    await soon(() => fresh.ticket.locator('button[type=submit]').textContent()).toBe('Waiting for the book…');
    again.release();
    expect(await said(fresh)).toBe('Bought 5 Yes for $2, pays $5 if Yes · See position');
    await fresh.page.context().close();
  });

  test('an untouched price follows the book, and a typed price is dropped with side, type or outcome', async () => {
    const { ticket } = visit;
    await ticket.getByLabel('Type').selectOption('GTC');
    const price = ticket.getByLabel('Price');
    await ticket.getByLabel('Shares').fill('5');
    const follows = (best: string): Promise<string> =>
      eventually(
        () => price.inputValue(),
        (now) => expect(now).toBe(best),
      );
    await follows('29');
    await stage.maker.submit(game, { side: 'BUY', outcome: 1, pips: 7_300, lots: 900 });
    await follows('27');
    await price.fill('11');
    await ticket.getByRole('button', { name: 'Sell', exact: true }).click();
    await soon(() => price.inputValue()).toBe('26');
    await ticket.getByRole('button', { name: 'Buy', exact: true }).click();
    await price.fill('142');
    await submit(visit);
    await ticket.getByRole('alert').waitFor();
    await ticket.getByLabel('Type').selectOption('MARKET');
    await soon(() => ticket.getByRole('alert').count()).toBe(0);
    await openMore(ticket);
    await soon(() => ticket.getByLabel('Price').inputValue()).toBe('');
  });

  test('the chart fits a narrower window, shows a value at the pointer, and an empty market has no scale', async () => {
    const { page } = visit;
    const chart = page.getByTestId('chart');
    const canvas = chart.locator('canvas').first();
    await canvas.waitFor();
    await page.setViewportSize({ width: 1_100, height: 900 });
    await page.mouse.move(0, 0);
    const box = await chart.boundingBox();
    if (!box) throw new Error('no chart');
    // A young market is one or two points wide.
    const time = page.locator('.chart-time');
    await until('a value stands under the pointer', async () => {
      for (let x = box.x + 10; x < box.x + box.width - 50; x += 8) {
        await page.mouse.move(x, box.y + 100);
        await page.evaluate('new Promise((drawn) => requestAnimationFrame(drawn))');
        if (await time.isVisible()) return true;
      }
      return false;
    });
    await soon(() => page.locator('.chart-title').textContent()).toMatch(/^Chance of Lakers \d+%/);
    await page.setViewportSize({ width: 1_440, height: 900 });
    const empty = await stage.openMarket({ question: 'Nothing traded here?', minOrderSize: '1' });
    const bare = await stage.open({}, undefined, `/?market=${game.slug}`);
    await bare.page.getByTestId('chart').locator('canvas').first().waitFor();
    await bare.page.locator(`[data-testid=market][data-market-id="${empty.id}"]`).click();
    await bare.page.getByText('The chart begins with the first trade.').waitFor();
    await bare.page.locator('.chart-canvas').waitFor({ state: 'hidden' });
    await bare.page.context().close();
  });

  test('a chart that could not be loaded is requested again by itself', async () => {
    let isBroken = true;
    const bare = await stage.open({}, async (page) => {
      await page.route('**/price-history*', (route) => {
        if (!isBroken) return route.continue();
        return route.fulfill({ status: 404, json: { code: 'NOT_FOUND', detail: 'gone', status: 404 } });
      });
    });
    await bare.page.getByText('The chart could not be loaded').waitFor();
    isBroken = false;
    await bare.page.getByText('The chart could not be loaded').waitFor({ state: 'detached' });
    await bare.page.context().close();
  });

  test('a halt shows at once, in a bar with the operator’s message and a ticket with the reason', async () => {
    const { page, ticket } = visit;
    await admin('/admin/mode', { mode: 'HALTED', message: 'Back at noon.' }, 'PUT');
    await page.getByTestId('exchange-mode').filter({ hasText: 'Back at noon.' }).waitFor();
    const button = ticket.locator('button[type=submit]');
    await soon(async () => [await button.isDisabled(), await button.textContent()]).toEqual([
      true,
      'Trading is halted',
    ]);
    await admin('/admin/mode', { mode: 'NORMAL' }, 'PUT');
    await page.getByTestId('exchange-mode').waitFor({ state: 'detached' });
    await soon(() => button.isDisabled()).toBe(false);
  });

  test('a paused market shows cancel only, and a resolved one its winner and payout, without a ticket', async () => {
    const { page, ticket } = visit;
    await admin(`/admin/markets/${game.id}/pause`);
    await page.locator('[data-testid=state][data-status=PAUSED]').waitFor();
    await soon(() => ticket.locator('button[type=submit]').textContent()).toBe(
      'Paused: orders can only be cancelled',
    );
    await admin(`/admin/markets/${game.id}/resume`);
    await page.getByTestId('state').waitFor({ state: 'detached' });
    await admin(`/admin/markets/${game.id}/resolve`, {
      outcomeIndex: 0,
      evidence: 'https://scores.example/lakers',
    });
    const card = page.locator('[data-testid=state][data-status=RESOLVED]');
    await card
      .filter({
        hasText: /^Resolved: LakersOn .*paid \$1\.You won \$7\d\.\d\d \(\+\$5\d\.\d\d\)Evidence$/,
      })
      .waitFor();
    await soon(() => card.getByRole('link', { name: 'Evidence' }).getAttribute('href')).toBe(
      'https://scores.example/lakers',
    );
    await soon(() => ticket.count()).toBe(0);
    await soon(() => page.locator('.head-chance').textContent()).toBe('Resolved: Lakers');
    await soon(() => page.getByTestId('book').count()).toBe(0);
    await page.locator('[data-testid=chart][aria-label$="to 100%"]').waitFor();
    const row = page.locator(`[data-testid=market][data-market-id="${game.id}"]`);
    await page.getByLabel('Show', { exact: true }).selectOption('RESOLVED');
    await row.filter({ hasText: 'Lakers ✓' }).waitFor();
    expect(new URL(page.url()).search).toContain('show=RESOLVED');
    await page.getByLabel('Show', { exact: true }).selectOption('OPEN');
  });

  test('messages appear by themselves for a fill of a resting order and for a payout', async () => {
    const { page } = visit;
    const trading = await stage.openMarket({ question: 'Is there news?', minOrderSize: '1' });
    await page.goto(`${stage.url}/?market=${trading.slug}`);
    await state(page, 'live');
    await place(visit, { price: '40', shares: '10' });
    await stage.trader().submit(trading, { side: 'BUY', outcome: 1, pips: 6_000, lots: 400 });
    await heard(page, 'Bought 4 Yes at 40¢, 6 still wait.');
    await admin(`/admin/markets/${trading.id}/resolve`, { outcomeIndex: 0 });
    await heard(page, 'You were paid $4.00.');
    await soon(() => page.locator('.toasts').getAttribute('aria-live')).toBe('polite');
  });

  test('who loses reads that the shares paid nothing, and what was lost', async () => {
    const { page } = visit;
    const trading = await stage.openMarket({ question: 'Is it lost?', minOrderSize: '1' });
    await page.goto(`${stage.url}/?market=${trading.slug}`);
    await state(page, 'live');
    await place(visit, { price: '40', shares: '10' });
    await stage.trader().submit(trading, { side: 'BUY', outcome: 1, pips: 6_000, lots: 1_000 });
    await heard(page, 'Bought 10 Yes at 40¢.');
    await admin(`/admin/markets/${trading.id}/resolve`, { outcomeIndex: 1 });
    await heard(page, 'It is resolved: No. Your shares paid nothing.');
    await page.getByTestId('payout').filter({ hasText: 'You lost $4.00' }).waitFor();
  });

  test('a fill gives one message, also when the list of orders arrives before the event of the socket', async () => {
    const { page } = visit;
    const trading = await stage.openMarket({ question: 'Who is first?', minOrderSize: '1' });
    const orders = hold();
    const messages = hold();
    await page.route('**/me/orders?*', async (route) => {
      await orders.released;
      await route.continue();
    });
    await page.routeWebSocket(/socket\.io/, (socket) => {
      const exchange = socket.connectToServer();
      exchange.onMessage((frame) => {
        if (String(frame).includes('"order:update"')) void messages.released.then(() => socket.send(frame));
        else socket.send(frame);
      });
    });
    await page.goto(`${stage.url}/?market=${trading.slug}`);
    await state(page, 'live');
    await place(visit, { price: '40', shares: '10' });
    await stage.trader().submit(trading, { side: 'BUY', outcome: 1, pips: 6_000, lots: 400 });
    orders.release();
    await heard(page, 'Bought 4 Yes at 40¢, 6 still wait.');
    messages.release();
    await stage.trader().submit(trading, { side: 'BUY', outcome: 1, pips: 6_000, lots: 100 });
    await heard(page, 'Bought 1 Yes at 40¢, 5 still wait.');
    const news = await page.evaluate<string[]>('window.news');
    expect(news.filter((text) => text.includes('Bought 4 Yes'))).toHaveLength(1);
    await page.unrouteAll();
  });

  marketSteps(() => ({ stage, visit, admin }));

  traderSteps(() => ({ stage, visit, admin }));

  test('without a server the page shows the age of its data, and old data looks old', async () => {
    const lone = await stage.open();
    await takeTestWallet(lone);
    await stage.killWeb();
    await state(lone.page, 'reconnecting');
    await lone.page
      .getByTestId('connection')
      .filter({ hasText: /Reconnecting.*as of \d+ .*ago/ })
      .waitFor();
    await eventually(
      () =>
        lone.page
          .locator('.ladder-book')
          .evaluate((book) => book.ownerDocument.defaultView?.getComputedStyle(book).opacity),
      (opacity) => expect(opacity).toBe('0.5'),
    );
    // Too old for a market order to wait for the connection.
    await lone.page.clock.setFixedTime(Date.now() + OLD_MS);
    await lone.ticket.getByLabel('Amount').fill('2');
    await submit(lone);
    expect(await reason(lone)).toMatch(/^The book may be old .* a market order has to wait\./);
    await stage.startWeb();
    await state(lone.page, 'live');
    await soon(() => lone.ticket.getByRole('alert').count()).toBe(0);
    await lone.page.context().close();
  });
});
