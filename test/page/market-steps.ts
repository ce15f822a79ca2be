import type { Route } from 'playwright-core';
import {
  type BrowserStage,
  fillIn,
  heard,
  openMore,
  said,
  state,
  submit,
  type Visit,
} from '../support/browser-stage';
import type { OpenMarket } from '../support/trader';
import { eventually, soon } from '../support/waiting';

interface At {
  readonly stage: BrowserStage;
  readonly visit: Visit;
  admin(path: string, body?: object, method?: string): Promise<void>;
}

const HERO_PX_MIN = 40;
const PLACING = '**/markets/*/orders';
/** The dry run that asks what became of an order. */
const ASKING = /\/markets\/[^/]+\/orders\?dryRun/;

/** The steps of the walk in a market with a book of two bids close to each other, by a signed-in wallet. */
export function marketSteps(at: () => At): void {
  let market: OpenMarket;
  const page = () => at().visit.page;

  test('the chance is read first: the largest figure, in whole percents, and the button has the colour of its outcome', async () => {
    const { stage, visit } = at();
    market = await stage.openMarket({ question: 'Is this number large?', minOrderSize: '1' });
    await stage.maker.submit(market, { side: 'BUY', outcome: 0, pips: 4_300, lots: 1_000 });
    await stage.maker.submit(market, { side: 'BUY', outcome: 0, pips: 4_100, lots: 500 });
    await stage.maker.submit(market, { side: 'BUY', outcome: 1, pips: 5_600, lots: 1_000 });
    await page().goto(`${stage.url}/m/${market.slug}`);
    await state(page(), 'live');
    const chance = page().locator('.head-chance strong');
    await chance.filter({ hasText: /^4[34]%$/ }).waitFor();
    const sizeOf = async (selector: string): Promise<number> =>
      Number.parseFloat(await styleOf(selector, 'font-size'));
    const [hero, question] = [await sizeOf('.head-chance strong'), await sizeOf('h1')];
    expect(hero).toBeGreaterThanOrEqual(HERO_PX_MIN);
    expect(hero).toBeGreaterThan(question);
    const button = '[data-testid=ticket] button[type=submit]';
    const yes = await styleOf(button, 'background-color');
    await visit.ticket.getByRole('button', { name: /^No/ }).click();
    await eventually(
      () => styleOf(button, 'background-color'),
      (no) => expect(no).not.toBe(yes),
    );
    await visit.ticket.getByRole('button', { name: /^Yes/ }).click();
  });

  const styleOf = (selector: string, name: string): Promise<string> =>
    page().evaluate<string>(
      `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('${name}')`,
    );

  test('levels of a few cents stand together, and Shift takes the shares of one into the ticket with its price', async () => {
    const { ticket } = at().visit;
    const level = (price: string, size: string) =>
      page().locator(`[data-testid=level][data-side=bid][data-price="${price}"][data-size="${size}"]`);
    await level('0.43', '10').waitFor();
    await page().getByLabel('Grouping').selectOption('500');
    await level('0.4', '15')
      .getByRole('button')
      .click({ modifiers: ['Shift'] });
    await soon(() => ticket.getByLabel('Type').inputValue()).toBe('GTC');
    await soon(() => ticket.getByLabel('Price').inputValue()).toBe('40');
    await soon(() => ticket.getByLabel('Shares').inputValue()).toBe('15');
    await page().getByLabel('Grouping').selectOption('0');
    await level('0.43', '10').waitFor();
  });

  test('an answer that is late is told, with the word that the order cannot run twice', async () => {
    const { visit } = at();
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page().route(PLACING, async (route) => {
      await held;
      await route.continue();
    });
    await fillIn(visit, { price: '20', shares: '5' });
    await submit(visit);
    await visit.ticket
      .getByText('No answer yet; if none comes, the same order is sent again, which cannot run twice.')
      .waitFor();
    answer();
    expect(await said(visit)).toBe('Order placed: 5 at 20¢ now wait in the book.');
    await page().unroute(PLACING);
  });

  test('what the ticket says ends with its cause: a cancelled order no longer waits, and a refusal ends with the lack', async () => {
    const { visit } = at();
    const order = page().locator('[data-testid=order][data-status=OPEN]').filter({ hasText: 'at 20¢' });
    await order.getByRole('button', { name: 'Cancel' }).click();
    await visit.ticket.getByText('You sign the order with your wallet.').waitFor();
    await soon(() => visit.ticket.getByRole('status').count()).toBe(0);
    await fillIn(visit, { side: 'Sell', price: '90', shares: '3' });
    await submit(visit);
    await visit.ticket
      .getByRole('alert')
      .filter({ hasText: 'You would sell 3 Yes shares and have 0' })
      .waitFor();
    await splitInto(3);
    await soon(() => visit.ticket.getByRole('alert').count()).toBe(0);
  });

  /** Without touching the ticket. */
  const splitInto = (size: number): Promise<unknown> =>
    page().evaluate(`(async () => {
      const { session } = JSON.parse(localStorage.getItem('exchange.session'));
      const headers = { authorization: 'Bearer ' + session.accessToken, 'content-type': 'application/json' };
      await fetch('/markets/${market.id}/split', { method: 'POST', headers, body: '{"size":"${size}"}' });
    })()`);

  test('after a reload the page says what became of an order whose answer was lost', async () => {
    const { visit } = at();
    const lost = async (price: string, send: (route: Route) => Promise<unknown>): Promise<void> => {
      let isSent = (): void => undefined;
      const sent = new Promise<void>((resolve) => {
        isSent = resolve;
      });
      await page().route(PLACING, (route) => send(route).then(isSent));
      await fillIn(visit, { price, shares: '5' });
      await submit(visit);
      await visit.ticket.getByRole('button', { name: 'Sending…' }).waitFor();
      await sent;
      await page().reload();
      await page().unroute(PLACING);
    };
    await lost('17', (route) => route.fetch());
    await heard(page(), ' was placed.');
    // An answer about the session says nothing of its order; the one behind it is asked about all the same.
    let first: string | null = null;
    await page().route(ASKING, (route) => {
      const body = route.request().postData();
      first ??= body;
      const headers = { ...route.request().headers(), authorization: 'Bearer of-another-session' };
      return route.continue(body === first ? { headers } : {});
    });
    await lost('19', (route) => route.fetch());
    await lost('20', async () => undefined);
    await heard(page(), ' was not placed.');
    await page().unroute(ASKING);
    await page().reload();
    await heard(page(), ' was placed.');
    await lost('18', async () => undefined);
    await heard(page(), ' was not placed.');
    const open = page().locator('[data-testid=order][data-status=OPEN]');
    await open.filter({ hasText: 'at 17¢' }).waitFor();
    await soon(() => open.filter({ hasText: 'at 18¢' }).count()).toBe(0);
    expect(await page().evaluate('sessionStorage.getItem("exchange.sent-orders")')).toBeNull();
  });

  test('the ticket has one field and says what the book can fill, a limit takes dollars, and after a fill the field is empty', async () => {
    const { ticket } = at().visit;
    const button = ticket.locator('button[type=submit]');
    await ticket.getByLabel('Type').selectOption('MARKET');
    await soon(() => ticket.locator('input:visible').count()).toBe(1);
    const spent = ticket.getByLabel('Amount');
    await spent.fill('900');
    await soon(() => button.textContent()).toBe('Buy Yes, $4.40 of $900');
    await ticket.getByLabel('Type').selectOption('GTC');
    await ticket.getByLabel('Price').fill('30');
    await openMore(ticket);
    await spent.fill('6.10');
    await soon(() => button.textContent()).toBe('Buy 20.33 Yes at 30¢');
    await ticket.getByLabel('Type').selectOption('MARKET');
    await spent.fill('2.20');
    await submit(at().visit);
    expect(await said(at().visit)).toBe('Bought 5 Yes for $2.20, pays $5 if Yes · See position');
    await soon(() => spent.inputValue()).toBe('');
    await ticket.getByRole('button', { name: 'See position' }).click();
    await page().locator('.position').filter({ hasText: '8 Yes' }).waitFor();
  });

  test('a market that is void says what each share paid, and takes no order', async () => {
    const { admin, visit } = at();
    await admin(`/admin/markets/${market.id}/void`);
    await page()
      .locator('[data-testid=state][data-status=VOIDED]')
      .filter({ hasText: /^VoidedOn .* each share paid 50¢, whatever its outcome/ })
      .waitFor();
    await soon(() => visit.ticket.count()).toBe(0);
    await page().getByTestId('book').waitFor({ state: 'detached' });
  });

  test('the full chart has candles and volume, zooms by keys, marks the end of the market, and is remembered', async () => {
    const full = page().locator('.chart-full');
    const candles = () => full.getAttribute('data-candles');
    const range = () => full.locator('[data-range]').getAttribute('data-range');
    await page().getByRole('button', { name: 'Full chart' }).click();
    await soon(async () => Number(await candles())).toBeGreaterThan(0);
    await soon(() => full.getAttribute('aria-label')).toMatch(
      /^Candles of Yes, 15m each, with volume, Void;/,
    );
    await page()
      .locator('.chart-title')
      .filter({ hasText: /Open 44¢ High 44¢ Low 44¢ Close 44¢, [\d.]+ shares/ })
      .waitFor();
    await soon(range).toMatch(/\d/);
    const before = await range();
    await full.press('+');
    await eventually(range, (now) => expect(now).not.toBe(before));
    await page().getByRole('button', { name: 'Line', exact: true }).click();
    await page().getByRole('button', { name: '1h', exact: true }).click();
    await page().reload();
    await soon(() => full.getAttribute('aria-label')).toMatch(/^Line of Yes, 1h each/);
    await page().getByRole('button', { name: 'Full chart' }).click();
    await full.waitFor({ state: 'detached' });
    await soon(() => page().evaluate('document.activeElement.textContent')).toBe('Full chart');
  });
}
