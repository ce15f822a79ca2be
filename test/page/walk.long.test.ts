import {
  type BrowserStage,
  fillIn,
  levels,
  place,
  plain,
  QUESTION,
  reason,
  said,
  startBrowserStage,
  state,
  submit,
  type Visit,
} from '../support/browser-stage';
import { describeInBrowser } from '../support/chromium';
import { eventually, soon } from '../support/waiting';

describeInBrowser('a person trades', () => {
  let stage: BrowserStage;
  let visit: Visit;
  let address: string;

  beforeAll(async () => {
    stage = await startBrowserStage();
    visit = await stage.open();
  });
  afterAll(() => stage?.stop());

  const order = (hash: string) => visit.page.locator(`[data-testid=order][data-hash="${hash}"]`);
  const showsTheBook = () =>
    eventually(
      async () => ({ shown: await levels(visit.page), book: plain(await stage.book()) }),
      ({ shown, book }) => expect(shown).toEqual(book),
    );
  const newest = async (): Promise<string> => {
    const first = visit.page.getByTestId('order').first();
    await first.waitFor();
    return (await first.getAttribute('data-hash')) ?? '';
  };

  test('the list has the market, which shows its book, its chance, its trades and its chart', async () => {
    const { page } = visit;
    const row = page.locator(`[data-testid=market][data-market-id="${stage.market.id}"]`);
    await soon(() => row.textContent()).toContain(QUESTION);
    await soon(() => page.getByRole('heading', { level: 1 }).textContent()).toBe(QUESTION);
    await showsTheBook();
    const { sequence } = await stage.book();
    await soon(() => page.getByTestId('book').getAttribute('data-sequence')).toBe(String(sequence));
    await eventually(
      () => page.locator('.head-chance').textContent(),
      (text) => expect(text).toContain('53%'),
    );
    await page.getByTestId('trade').first().waitFor();
    await page.getByTestId('chart').locator('canvas').first().waitFor();
    // Drawn, not only there: some pixel of it has the colour of the line.
    await eventually(
      () =>
        page.getByTestId('chart').evaluate((chart) =>
          [...chart.querySelectorAll('canvas')].some((canvas) => {
            const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {};
            if (!data) return false;
            for (let i = 0; i < data.length; i += 4) {
              if (data[i] === 52 && data[i + 1] === 87 && data[i + 2] === 213 && data[i + 3] === 255)
                return true;
            }
            return false;
          }),
        ),
      (drawn) => expect(drawn).toBe(true),
    );
  });

  test('the ladder and the trades update by themselves', async () => {
    const { page } = visit;
    await stage.rest({ side: 'BUY', outcome: 0, pips: 5_200, lots: 700 });
    await page.locator('[data-testid=level][data-side=bid][data-price="0.52"][data-size="7"]').waitFor();
    const before = await page.getByTestId('trade').count();
    await stage.trader().submit(stage.market, { side: 'BUY', outcome: 1, pips: 4_800, lots: 300 });
    await page.locator('[data-testid=level][data-side=bid][data-price="0.52"][data-size="4"]').waitFor();
    await eventually(
      () => page.getByTestId('trade').count(),
      (count) => expect(count).toBe(before + 1),
    );
    await eventually(
      () => page.getByTestId('chart').getAttribute('aria-label'),
      (label) => expect(label).toMatch(/^Chance of Yes over the last day: from 5[45]% to 54%$/),
    );
    await showsTheBook();
  });

  test('without a wallet the ticket says what to do', async () => {
    await fillIn(visit, { price: '40', shares: '10' });
    await soon(() => visit.ticket.getByTestId('ticket-cost').textContent()).toBe('$4.00');
    await soon(() => visit.ticket.getByTestId('ticket-payout').textContent()).toContain('$10.00');
    await submit(visit);
    await soon(() => reason(visit)).toMatch(/sign in first/i);
    await visit.ticket.getByRole('button', { name: 'Use my own wallet' }).waitFor();
  });

  test('a test wallet created in one click has funds, and its order rests', async () => {
    await visit.ticket.getByRole('button', { name: 'Start with test funds' }).click();
    address = (await visit.page.getByTestId('account').getAttribute('data-address')) ?? '';
    // The draft is kept, and the reason went with its cause.
    await soon(() => visit.ticket.getByLabel('Price').inputValue()).toBe('40');
    await visit.ticket.getByRole('alert').waitFor({ state: 'detached' });
    await visit.page.getByTestId('account').filter({ hasText: '$' }).waitFor();
    expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(await place(visit, { price: '40', shares: '10' })).toBe(
      'Order placed: 10 at 40¢ now wait in the book.',
    );
    const hash = await newest();
    const { body } = await stage.web().client.get(`/orders/${hash}`);
    expect(body).toMatchObject({ maker: address, status: 'OPEN', price: '0.4', size: '10', side: 'BUY' });
    await soon(() => order(hash).getAttribute('data-status')).toBe('OPEN');
    await soon(() => order(hash).getAttribute('data-average-price')).toBe('');
    await visit.page.locator('[data-testid=level][data-price="0.4"][data-size="10"]').waitFor();
  });

  test('a post-only order that would trade is refused in words, before it is signed', async () => {
    await fillIn(visit, { type: 'POST_ONLY', price: '58', shares: '5' });
    await submit(visit);
    await soon(() => reason(visit)).toMatch(/would trade at once against 55¢.*bid lower/i);
  });

  test('refusals that only the exchange can make are shown in words, too', async () => {
    await visit.page.getByTestId('account').filter({ hasText: 'Cash $9,996' }).waitFor();
    await fillIn(visit, { type: 'FOK', price: '56', shares: '5000' });
    await submit(visit);
    await soon(() => reason(visit)).toMatch(/^Only 90 shares are available at this price/);
    await fillIn(visit, { price: '40.5', shares: '5' });
    await submit(visit);
    await soon(() => reason(visit)).toBe('Prices here go in steps of 1¢: try 40¢ or 41¢.');
    await fillIn(visit, { price: '40', shares: '1000000' });
    await submit(visit);
    await soon(() => reason(visit)).toMatch(/needs \$400,000 and you have \$9,996 free/);
  });

  test('an order that meets the book fills at the price of the resting order', async () => {
    await fillIn(visit, { type: 'IOC', price: '60', shares: '20' });
    await soon(() => visit.ticket.locator('.summary').textContent()).toContain('Average price55¢');
    await soon(() => visit.ticket.getByTestId('ticket-cost').textContent()).toBe('$11.00');
    expect(await place(visit, { type: 'IOC', price: '60', shares: '20' })).toBe(
      'Bought 20 Yes for $11, pays $20 if Yes · See position',
    );
    const filled = visit.page.locator('[data-testid=order][data-status=FILLED]');
    await filled.waitFor();
    await soon(() => filled.getAttribute('data-average-price')).toBe('0.55');
    await visit.page.locator('.position', { hasText: '20 Yes' }).waitFor();
  });

  test('a market order spends the cost of its shares, and no more', async () => {
    expect(await place(visit, { type: 'MARKET', shares: '10' })).toBe(
      'Bought 10 Yes for $5.50, pays $10 if Yes · See position',
    );
    expect(await place(visit, { type: 'MARKET', side: 'Sell', shares: '10' })).toBe(
      'Sold 10 Yes at 50.8¢ · See position',
    );
  });

  test('the other outcome mirrors the book', async () => {
    await visit.ticket.getByRole('button', { name: /^No/ }).click();
    const book = await stage.book();
    await eventually(
      () => levels(visit.page),
      (shown) => expect(shown).toEqual(plain(book.outcomes[1] ?? book)),
    );
    expect(await place(visit, { outcome: 'No', price: '30', shares: '7' })).toMatch(
      /^Order placed: 7 at 30¢/,
    );
    const { body } = await stage.web().client.get(`/orders/${await newest()}`);
    expect(body).toMatchObject({ outcomeIndex: 1, side: 'BUY', price: '0.3', size: '7' });
  });

  test('one order can be cancelled, and all of them', async () => {
    const hash = await newest();
    await order(hash).getByRole('button', { name: 'Cancel' }).click();
    await visit.page.locator(`[data-testid=order][data-hash="${hash}"][data-status=CANCELLED]`).waitFor();
    await visit.page.getByRole('button', { name: 'Cancel all' }).click();
    await eventually(
      () => visit.page.locator('[data-testid=order][data-status=OPEN]').count(),
      (open) => expect(open).toBe(0),
    );
  });

  test('a reload keeps the market and the session', async () => {
    await visit.page.reload();
    await state(visit.page, 'live');
    await soon(() => visit.page.getByRole('heading', { level: 1 }).textContent()).toBe(QUESTION);
    await soon(() => visit.page.getByTestId('account').getAttribute('data-address')).toBe(address);
    expect(await place(visit, { price: '20', shares: '3' })).toMatch(/^Order placed: 3 at 20¢/);
  });

  test('a comment can be written, liked and deleted', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'Discussion' }).click();
    await page.getByLabel('Your comment').fill('My roof leaks.');
    await page.getByRole('button', { name: 'Post' }).click();
    const comment = page.locator('.comment').filter({ hasText: 'My roof leaks.' });
    await comment.getByRole('button', { name: 'Like' }).click();
    await comment.getByRole('button', { name: 'Liked · 1' }).waitFor();
    await comment.getByRole('button', { name: 'Delete' }).click();
    await comment.waitFor({ state: 'detached' });
  });

  test('the page can be used with the keyboard alone', async () => {
    const { page, ticket } = visit;
    const focused = (): Promise<string> => page.evaluate('document.activeElement.id');
    await ticket.getByRole('button', { name: 'Buy', exact: true }).focus();
    await page.keyboard.press('Enter');
    for (let stop = 0; stop < 2; stop++) await page.keyboard.press('Tab');
    await soon(() => focused()).toBe('ticket-type');
    for (let stop = 0; stop < 3; stop++) await page.keyboard.press('Tab');
    await soon(() => focused()).toBe('ticket-price');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('21');
    await page.keyboard.press('Tab');
    await soon(() => focused()).toBe('ticket-shares');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('4');
    await page.keyboard.press('Enter');
    expect(await said(visit)).toMatch(/^Order placed: 4 at 21¢/);
    // It ends in 30 days, because nothing else was chosen.
    const expiration: string = await page.evaluate(`(async () => {
      const { session } = JSON.parse(localStorage.getItem('exchange.session'));
      const headers = { authorization: 'Bearer ' + session.accessToken };
      const { data } = await (await fetch('/me/orders?limit=1', { headers })).json();
      return data[0].expiration;
    })()`);
    const days = (Number(expiration) - Date.now() / 1_000) / 86_400;
    expect(days).toBeGreaterThan(29);
    expect(days).toBeLessThanOrEqual(30);
  });

  test.each<[type: string, stops: readonly string[]]>([
    ['GTC', ['Price', 'Shares', '+10', '+100', 'Max', 'Expires', 'More', 'Buy']],
    ['MARKET', ['Amount', '+$10', '+$50', 'Max', 'More', 'Buy']],
  ])('Tab leads through the whole ticket of a %s order, field by field', async (type, stops) => {
    const { page, ticket } = visit;
    await page.locator('#ticket-type').selectOption(type);
    await ticket.getByRole('button', { name: 'Buy', exact: true }).click();
    const last = ticket.locator('.outcomes button').last();
    await last.focus();
    const seen: string[] = [];
    for (let stop = 0; stop < stops.length; stop++) {
      await page.keyboard.press('Tab');
      seen.push(
        await page.evaluate(
          `(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim().replace(/^Buy .*/, 'Buy')`,
        ),
      );
    }
    expect(seen).toEqual(stops);
  });

  test('the console shows only refusals, and no request went to another server', () => {
    const refused = /the server responded with a status of 422/;
    expect(visit.complaints.filter((line) => !refused.test(line))).toEqual([]);
    expect(visit.outside).toEqual([]);
  });
});
