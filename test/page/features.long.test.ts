import { Wallet } from 'ethers';
import {
  type BrowserStage,
  place,
  startBrowserStage,
  takeTestWallet,
  type Visit,
} from '../support/browser-stage';
import { describeInBrowser } from '../support/chromium';
import { violations } from '../support/looks';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, type OpenMarket } from '../support/trader';
import { eventually, soon, until } from '../support/waiting';

/** As many as the page keeps. */
const TRADES_SHOWN = 40;
/** What the chart writes at its scale of chances, and at the closing time. */
const KEEP_LABELS = `
  window.labels = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    if (/%$|^Close/.test(text)) window.labels.push(text);
    return fillText.call(this, text, ...rest);
  };
`;
const VAST = { width: 2_200, height: 1_100 };

describeInBrowser('what traders look at besides the ticket', () => {
  let stage: BrowserStage;
  let visit: Visit;
  beforeAll(async () => {
    stage = await startBrowserStage();
    visit = await stage.open();
  });
  afterAll(() => stage?.stop());

  const row = () => visit.page.locator(`[data-testid=market][data-market-id="${stage.market.id}"]`);
  const box = async (selector: string) => {
    const look = () => visit.page.locator(selector).boundingBox();
    // The page replaces its columns when its window changes.
    let found = await look();
    await until(`${selector} is on the page`, async () => {
      found ??= await look();
      return found !== null;
    });
    if (!found) throw new Error(`${selector} is not on the page`);
    return found;
  };

  test('the page has a font of its own, from its own server', async () => {
    const fonts = await visit.page.evaluate<[string, string][]>(
      'document.fonts.ready.then((all) => [...all].map(({ family, status }) => [family, status]))',
    );
    expect(fonts).toEqual([['Inter', 'loaded']]);
    expect(visit.outside).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  test('a row of the list is 56 pixels high and tells the change of the day, as head and chart do, and the volume moves', async () => {
    const { page } = visit;
    expect((await row().boundingBox())?.height).toBe(56);
    await soon(() => row().textContent()).toContain('▼ 2.5 points today');
    await stage.trader().submit(stage.market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 9_500 });
    await stage.rest({ side: 'BUY', outcome: 0, pips: 5_900, lots: 100 });
    await row().filter({ hasText: '▲ 4.5 points today' }).waitFor();
    await page.locator('.head-change').filter({ hasText: '▲ 4.5 points today' }).waitFor();
    await page.locator('.chart-change').filter({ hasText: '+4.5' }).waitFor();
    const { body } = await stage.web().client.get(`/markets/${stage.market.id}`);
    await soon(() => page.locator('.head-facts').textContent()).toContain(
      `$${Math.round(Number(body.volume))} volume`,
    );
  });

  test('the view without a choice has the address of its market, so that a reload shows the same', async () => {
    const first = await stage.open({}, undefined, '/');
    await first.page.waitForURL(/\/m\/[^/]+$/);
    const question = await first.page.getByRole('heading', { level: 1 }).textContent();
    await first.page.reload();
    await soon(() => first.page.getByRole('heading', { level: 1 }).textContent()).toBe(question);
    await first.page.context().close();
  });

  test('the page says what kind of funds an order spends, as the exchange does', async () => {
    await visit.page.locator('.foot', { hasText: 'Test funds: they have no value.' }).waitFor();
    for (const [network, words] of [
      ['testnet', 'Test network: these funds have no value.'],
      ['mainnet', 'Real funds on BNB Chain.'],
    ] as const) {
      const other = await stage.open({}, (page) =>
        page.route('**/config', async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, json: { ...(await response.json()), network, funds: 'chain' } });
        }),
      );
      await other.page.locator('.foot', { hasText: words }).waitFor();
      await other.ticket.filter({ hasText: words }).waitFor();
      await soon(() => other.page.getByRole('button', { name: 'Test wallet' }).count()).toBe(
        network === 'mainnet' ? 0 : 1,
      );
      await other.page.context().close();
    }
  });

  test('what is resolved ends at its payout: the scale stays between 0 and 100 in even steps, and so does the line of its card', async () => {
    const over = await stage.openMarket({ question: 'Is it decided?', minOrderSize: '1' });
    await stage.maker.submit(over, { side: 'BUY', outcome: 0, pips: 5_000, lots: 10_000 });
    for (let i = 0; i < TRADES_SHOWN; i++)
      await stage.trader().submit(over, { side: 'BUY', outcome: 1, pips: 5_000, lots: 100 });
    const sent = { token: ADMIN_TOKEN, body: { outcomeIndex: 0 } };
    await stage.web().client.post(`/admin/markets/${over.id}/resolve`, sent);
    const { page } = await stage.open({}, (fresh) => fresh.addInitScript(KEEP_LABELS), `/m/${over.slug}`);
    const scale = async (): Promise<number[]> =>
      [...new Set(await page.evaluate<string[]>('window.labels'))].map((text) => Number.parseFloat(text));
    await eventually(scale, (values) => {
      expect(values.length).toBeGreaterThan(2);
      expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...values)).toBe(100);
    });
    const sorted = (await scale()).sort((a, b) => a - b);
    expect(new Set(sorted.slice(1).map((value, at) => value - (sorted[at] ?? 0))).size).toBe(1);
    // With a full list of trades nothing is below the foot.
    await page
      .getByTestId('trade')
      .nth(TRADES_SHOWN - 1)
      .waitFor();
    const below = await page.evaluate<number>(
      'document.documentElement.scrollHeight - Math.max(innerHeight, Math.ceil(document.querySelector(".foot").getBoundingClientRect().bottom + scrollY))',
    );
    expect(below).toBeLessThanOrEqual(0);
    await page.goto(`${stage.url}/explore?show=RESOLVED`);
    const line = page.locator(`[data-testid=market-card][data-market-id="${over.id}"] polyline`);
    await line.waitFor({ state: 'attached' });
    await soon(() => line.getAttribute('points')).toMatch(/ 100\.0,0\.0$/);
    await page.keyboard.press('Tab');
    const skip = await page.evaluate<string>('document.activeElement.getAttribute("href")');
    await page.locator(skip).waitFor();
    await page.context().close();
  });

  test('a chart for traders: candles with volume in a file of its own, between 0 and 100, that moves, and this browser remembers it', async () => {
    const fresh = await stage.open({}, (page) => page.addInitScript(KEEP_LABELS));
    const { page } = fresh;
    const chart = page.getByTestId('chart');
    const scripts = (): Promise<boolean> =>
      page.evaluate(
        'performance.getEntriesByType("resource").some(({ name }) => /chart-full/.test(name))',
      ) as Promise<boolean>;
    await chart.locator('canvas').first().waitFor();
    expect(await scripts()).toBe(false);
    const button = page.getByRole('button', { name: 'Full chart' });
    await button.click();
    await page.locator('.chart-full canvas').first().waitFor();
    await soon(() => page.evaluate('document.activeElement.textContent')).toBe('Full chart');
    await page.evaluate('window.labels = []');
    await page.getByRole('button', { name: '1m', exact: true }).click();
    await eventually(
      () => chart.getAttribute('data-candles'),
      (count) => expect(Number(count)).toBeGreaterThan(0),
    );
    const range = page.locator('.chart-full .chart-canvas');
    const seen = (): Promise<string | null> => range.getAttribute('data-range');
    await eventually(seen, (words) => expect(words).toMatch(/\d/));
    await eventually(
      async () => [...new Set(await page.evaluate<string[]>('window.labels'))].map(Number.parseFloat),
      (values) => {
        expect(values.length).toBeGreaterThan(2);
        expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
        expect(Math.max(...values)).toBeLessThanOrEqual(100);
      },
    );
    const before = await seen();
    await chart.focus();
    await page.keyboard.press('-');
    await eventually(seen, (words) => expect(words).not.toBe(before));
    await page.getByRole('button', { name: 'Line', exact: true }).click();
    await page.reload();
    await page.locator('.chart-full[aria-label^="Line of Yes, 1m each"] canvas').first().waitFor();
    await page.getByRole('button', { name: 'Full chart' }).click();
    await page.locator('.chart-full').waitFor({ state: 'detached' });
    expect(fresh.outside).toEqual([]);
    expect(fresh.complaints).toEqual([]);
    await page.context().close();
  });

  test('the full chart marks the closing time that lies ahead', async () => {
    const closesAt = new Date(Date.now() + 5_400_000);
    const market = await stage.openMarket({
      question: 'Does it end?',
      minOrderSize: '1',
      closesAt: closesAt.toISOString(),
    });
    await stage.maker.submit(market, { side: 'BUY', outcome: 0, pips: 4_000, lots: 1_000 });
    await stage.trader().submit(market, { side: 'BUY', outcome: 1, pips: 6_000, lots: 100 });
    const fresh = await stage.open({}, (page) => page.addInitScript(KEEP_LABELS), `/m/${market.slug}`);
    const { page } = fresh;
    await page.getByRole('button', { name: 'Full chart' }).click();
    const chart = page.locator('.chart-full');
    const words = /^Candles of Yes, 15m each, with volume, (Closes \d+ \w+ \d{4}, \d\d:\d\d);/;
    await soon(() => chart.getAttribute('aria-label')).toMatch(words);
    const [, text = ''] = words.exec((await chart.getAttribute('aria-label')) ?? '') ?? [];
    await soon(() => page.evaluate<string[]>('[...new Set(window.labels)]')).toContain(text);
    await page.context().close();
  });

  test('the book is drawn by its depth, and puts prices of 5 cents together', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'Depth', exact: true }).click();
    const depth = page.getByTestId('depth');
    await depth.getByRole('img', { name: 'Depth of Yes: bids for 401 shares, offers of 195' }).waitFor();
    await soon(() => depth.textContent()).toContain('401 wanted at 45¢ or more');
    await page.getByRole('button', { name: 'Depth', exact: true }).click();
    await stage.rest({ side: 'BUY', outcome: 0, pips: 4_600, lots: 500 });
    await page.getByLabel('Grouping').selectOption({ label: '5¢' });
    await page.locator('[data-testid=level][data-side=bid][data-price="0.45"][data-size="305"]').waitFor();
    await page.getByLabel('Grouping').selectOption({ label: '1¢' });
  });

  test('on a very wide window book and trades stand in a column of their own', async () => {
    const { page } = visit;
    expect((await box('.ladder')).y).toBeGreaterThan((await box('.chart')).y);
    await page.setViewportSize(VAST);
    await eventually(
      async () =>
        [await box('.chart'), await box('.ladder'), await box('.trades'), await box('.side')] as const,
      ([chart, ladder, trades, side]) => {
        expect(ladder.x).toBeGreaterThanOrEqual(chart.x + chart.width);
        expect(side.x).toBeGreaterThanOrEqual(ladder.x + ladder.width);
        expect(trades.y).toBeGreaterThanOrEqual(ladder.y + ladder.height);
      },
    );
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test('on the narrowest phone the bar shows both prices whole', async () => {
    const { page } = visit;
    await page.setViewportSize({ width: 320, height: 640 });
    const prices = page.getByLabel('On this phone').getByRole('button');
    await prices.filter({ hasText: /^No \d+¢$/ }).waitFor();
    for (const price of await prices.all())
      await soon(() =>
        price.evaluate((button) => button.scrollWidth - button.clientWidth),
      ).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test('the portfolio has the gain of all time and of today, and a curve of its value', async () => {
    const { page } = visit;
    await takeTestWallet(visit);
    await place(visit, { price: '60', shares: '100' });
    await page.getByTestId('account').click();
    const figures = page.getByTestId('figures');
    await figures.filter({ hasText: /Gain-\$\d+\.\d\d-\$\d+\.\d\d today/ }).waitFor();
    const value = /Portfolio(\$[\d,.]+)Cash/.exec((await figures.textContent()) ?? '')?.[1] ?? '';
    await page
      .getByTestId('curve')
      .and(page.getByRole('img', { name: `Value over the last day: from $10,000.00 to ${value}` }))
      .waitFor();
    await page.getByLabel('Time frame of the value').getByRole('button', { name: '1w' }).click();
    await page.getByRole('img', { name: /^Value over the last week: from / }).waitFor();
    await page.setViewportSize({ width: 320, height: 640 });
    await eventually(
      () => page.evaluate<number>('document.documentElement.scrollWidth'),
      (width) => expect(width).toBe(320),
    );
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.goBack();
  });

  test('all markets stand as cards, and a price on a card is the first click of an order', async () => {
    const { page, ticket } = visit;
    await page.getByLabel('Views').getByRole('link', { name: 'Markets' }).click();
    const card = page.locator(`[data-testid=market-card][data-market-id="${stage.market.id}"]`);
    // A level line has no height, which a browser calls hidden.
    await card.locator('.sparkline polyline').waitFor({ state: 'attached' });
    await card.getByRole('button', { name: /^No \d+¢/ }).click();
    await page.waitForURL(`**/m/${stage.market.slug}`);
    await ticket.getByRole('button', { name: /^No/, pressed: true }).waitFor();
  });

  test('an event is a page: a line for each market, prices that set one ticket, and what is decided comes last', async () => {
    const event = { slug: 'first-snow', title: 'When does it snow first?' };
    const months = ['In October?', 'In November?', 'In December?'];
    const opened = await Promise.all(
      months.map((question) => stage.openMarket({ question, event, minOrderSize: '1' })),
    );
    const [october, november, december] = opened as [OpenMarket, OpenMarket, OpenMarket];
    for (const [market, pips] of [
      [october, 1_000],
      [november, 3_000],
      [december, 6_000],
    ] as const) {
      await stage.maker.submit(market, { side: 'BUY', outcome: 1, pips: 10_000 - pips, lots: 10_000 });
      await stage.trader().submit(market, { side: 'BUY', outcome: 0, pips, lots: 1_000 });
    }
    const sent = { token: ADMIN_TOKEN, body: { outcomeIndex: 1 } };
    await stage.web().client.post(`/admin/markets/${october.id}/resolve`, sent);

    const { page, ticket, complaints } = await stage.open({}, undefined, '/explore');
    const card = page.getByTestId('event-card').filter({ hasText: event.title });
    await card.filter({ hasText: 'In December?60%In November?30%' }).waitFor();
    await card.getByRole('link', { name: event.title }).click();
    await page.waitForURL('**/e/first-snow');
    const rows = page.getByTestId('event-market');
    await soon(() => rows.locator('a').first().textContent()).toBe('In December?');
    await soon(() => rows.locator('> a').allTextContents()).toEqual([
      'In December?',
      'In November?',
      'In October?',
    ]);
    await rows.nth(2).filter({ hasText: 'Resolved: No' }).waitFor();
    await page.locator('.head-facts', { hasText: 'Chances add up to 90%' }).waitFor();
    await soon(() => page.getByTestId('event-chart').locator('path.event-line[d*=H]').count()).toBe(3);

    await ticket.filter({ hasText: 'In December?' }).waitFor();
    await rows.nth(1).getByRole('button', { name: /^No/ }).click();
    await ticket.filter({ hasText: 'In November?' }).waitFor();
    await ticket.getByRole('button', { name: /^No/, pressed: true }).waitFor();
    // The row of the ticket’s market moves with the ticket; 28.5 is 29 as in a market’s head.
    await stage.maker.submit(november, { side: 'BUY', outcome: 0, pips: 2_700, lots: 1_000 });
    await soon(() => rows.nth(1).locator('strong').textContent()).toBe('29%');
    const moved = stage.maker.submit(november, { side: 'BUY', outcome: 1, pips: 7_100, lots: 1_000 });
    await ticket.getByRole('button', { name: 'Yes 29¢' }).waitFor();
    expect(await rows.nth(1).getByRole('button', { name: /^Yes/ }).textContent()).toMatch(/^Yes 29¢/);
    expect(await rows.nth(1).locator('strong').textContent()).toBe('28%');
    await moved;
    await rows.nth(1).getByText('Rules').click();
    await rows.nth(1).getByTestId('rules').waitFor();
    expect(await violations(page)).toEqual([]);

    await page.setViewportSize({ width: 390, height: 800 });
    await rows.nth(0).getByRole('button', { name: /^Yes/ }).click();
    await page.locator('.ticket-sheet', { hasText: 'In December?' }).waitFor();
    await page.goBack();
    await soon(() => page.locator('.ticket-sheet').count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe('/e/first-snow');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('numbers, money and times are those of the browser, with the zone named, and typed numbers are read so', async () => {
    const market = await stage.openMarket({
      question: 'Is it a point?',
      minOrderSize: '1',
      closesAt: '2030-06-01T20:30:00.000Z',
    });
    await stage.maker.submit(market, { side: 'BUY', outcome: 1, pips: 5_000, lots: 500_000 });
    const german = { locale: 'de-DE', timezoneId: 'Asia/Tokyo' };
    const fresh = await stage.open(german, undefined, `/m/${market.slug}`);
    const { page, ticket, complaints } = fresh;
    await page.getByText('Closes 2. Juni 2030, 05:30 GMT+9').waitFor();
    await takeTestWallet(fresh);
    await page
      .getByTestId('account')
      .filter({ hasText: /10\.000,00\s\$/ })
      .waitFor();
    await ticket.getByLabel('Amount').fill('1.50');
    await soon(() => ticket.getByTestId('ticket-cost').textContent()).toMatch(/^1,50\s\$$/);
    await ticket.getByLabel('Amount').fill('1.000,50');
    await ticket.getByRole('button', { name: 'Buy Yes' }).waitFor();
    await ticket.locator('button[type=submit]').click();
    await page.locator('.position').filter({ hasText: '2.001 Yes' }).waitFor();
    await page
      .getByTestId('account')
      .filter({ hasText: /8\.999,50\s\$/ })
      .waitFor();
    const time = page.locator('.trades time').first();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    const inTokyo = { timeZone: 'Asia/Tokyo' } as const;
    expect(await time.textContent()).toBe(at.toLocaleTimeString('de-DE', inTokyo));
    expect(await time.getAttribute('title')).toMatch(/ \d{4}.* \d\d:\d\d GMT\+9$/);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('a book and a list of trades with nothing in them take no room', async () => {
    const { page } = visit;
    const empty = await stage.openMarket({ question: 'Is there nothing here?', minOrderSize: '1' });
    await page.goto(`${stage.url}/m/${empty.slug}`);
    await page.getByText('The book is empty').waitFor();
    for (const part of ['.ladder', '.trades']) expect((await box(part)).height).toBeLessThan(140);
  });

  test('a wallet has a public page, which its owner fills in and others see', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('link', { name: 'My profile' }).click();
    const person = page.getByTestId('person');
    await person.getByLabel('Name').fill('River Walker');
    await person.getByRole('button', { name: 'Save' }).click();
    await soon(() => person.getByRole('alert').textContent()).toBe(
      'A name has 3 to 20 letters, digits or _.',
    );
    await person.getByLabel('Name').fill('river_walker');
    await person.getByLabel('About me').fill('I count clouds.');
    await person.getByRole('button', { name: 'Save' }).click();
    await person.getByRole('heading', { name: 'river_walker' }).waitFor();
    await person.locator('button[aria-disabled=true]', { hasText: 'Save' }).waitFor();
    // What changed elsewhere since this tab loaded the profile stays: only what was typed is sent.
    const key = await page.evaluate<string>(`localStorage.getItem('exchange.test-key')`);
    const { client } = stage.web();
    const elsewhere = createTrader(client, await domainOf(client), new Wallet(key));
    await elsewhere.send('PATCH', '/me/profile', { bio: 'I count drops.', portfolioPublic: true });
    await person.getByLabel('Name').fill('rain_walker');
    await person.getByRole('button', { name: 'Save' }).click();
    await person.getByRole('heading', { name: 'rain_walker' }).waitFor();
    await soon(() => person.getByLabel('About me').inputValue()).toBe('I count drops.');
    await page.getByTestId('holdings').waitFor();
    await person.getByLabel('Show everybody my positions and gain').uncheck();
    await person.getByRole('button', { name: 'Save' }).click();
    await page.getByTestId('holdings').waitFor({ state: 'detached' });
    const other = await stage.open({}, undefined, new URL(page.url()).pathname);
    await other.page.getByTestId('person').filter({ hasText: 'I count drops.' }).waitFor();
    await soon(() => other.page.getByLabel('About me').count()).toBe(0);
    await other.page.context().close();
  });

  test('a market names its traders and its largest holders, and a wallet hides itself', async () => {
    const { page } = visit;
    const mine = new URL(page.url()).pathname;
    const { address } = stage.maker;
    await page.goto(`${stage.url}/m/${stage.market.slug}`);
    const tabOf = (name: string) => page.locator('.activity').getByRole('button', { name, exact: true });
    await tabOf('Activity').click();
    await page.getByTestId('market-activity').locator(`a[href="/u/${address}"]`).first().waitFor();
    await tabOf('Top holders').click();
    const holder = page.getByTestId('holder').filter({ has: page.locator(`a[href="/u/${address}"]`) });
    await holder.first().filter({ hasText: 'share' }).waitFor();
    await page.goto(`${stage.url}${mine}`);
    const shown = page.getByLabel('Show me among holders and in activity');
    await soon(() => shown.isChecked()).toBe(true);
    await shown.uncheck();
    await page.getByTestId('person').getByRole('button', { name: 'Save' }).click();
    await soon(async () => (await stage.web().client.get(`/profiles/${mine.slice(3)}`)).body.hidden).toBe(
      true,
    );
  });

  test('a wallet shows everybody its positions and gain when it says so', async () => {
    const { page } = visit;
    const holdings = page.getByTestId('holdings');
    const publicly = page.getByLabel('Show everybody my positions and gain');
    await publicly.check();
    expect(await holdings.count()).toBe(0);
    await page.getByTestId('person').getByRole('button', { name: 'Save' }).click();
    await holdings.filter({ hasText: 'in all' }).waitFor();
    const { maker } = stage;
    await maker.send('PATCH', '/me/profile', { portfolioPublic: true });
    await page.goto(`${stage.url}/u/${maker.address}`);
    await holdings
      .getByRole('listitem')
      .filter({ hasText: /: [\d.,]+ \w+, worth \$/ })
      .first()
      .waitFor();
    // An open page shows nothing more with its next look.
    await maker.send('PATCH', '/me/profile', { portfolioPublic: false });
    await holdings.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByTestId('person').waitFor();
    expect(await holdings.count()).toBe(0);
  });

  test('a leaderboard ranks the wallets that show everybody their gain, by the gain of the week', async () => {
    const names = ['first_place', 'second_place'];
    const market = await stage.openMarket({ question: 'Who gains most?', minOrderSize: '1' });
    const [winner, loser] = [stage.trader(), stage.trader()];
    await loser.submit(market, { side: 'BUY', outcome: 1, pips: 6_000, lots: 1_000 });
    await winner.submit(market, { side: 'BUY', outcome: 0, pips: 4_000, lots: 1_000 });
    const sent = { token: ADMIN_TOKEN, body: { outcomeIndex: 0 } };
    await stage.web().client.post(`/admin/markets/${market.id}/resolve`, sent);
    for (const [i, trader] of [winner, loser].entries())
      await trader.send('PATCH', '/me/profile', { username: names[i], portfolioPublic: true });
    const fresh = await stage.open({}, undefined, '/explore');
    const { page } = fresh;
    await page.getByRole('link', { name: 'Leaderboard of the week' }).click();
    await page.waitForURL('**/leaders');
    const row = (text: string) => page.getByTestId('leader').filter({ hasText: text });
    await row('1. first_place+$6.00$4.00').waitFor();
    await row('second_place-$6.00$6.00').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Switch to the dark theme' }).click();
    // Until a button has its new colour it has one between the two.
    const fading = 'document.getAnimations().filter((one) => one instanceof CSSTransition).length';
    await soon(() => page.evaluate<number>(fading)).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    await row('first_place').filter({ hasText: '+$6.00' }).waitFor();
    await eventually(
      () => page.evaluate<number>('document.documentElement.scrollWidth'),
      (width) => expect(width).toBe(390),
    );
    expect(await violations(page)).toEqual([]);
    // Who takes the consent back is gone with the next look.
    await winner.send('PATCH', '/me/profile', { portfolioPublic: false });
    await row('first_place').waitFor({ state: 'detached' });
    await row('1. second_place').waitFor();
    await row('second_place').getByRole('link').click();
    await page.getByTestId('holdings').getByRole('link', { name: 'Leaderboard of the week' }).click();
    await page.waitForURL('**/leaders');
    expect(fresh.complaints).toEqual([]);
    await page.context().close();
  });

  test('a bell has fills, ends, payouts and answers, counts what is new, and works by keys and on a phone', async () => {
    const market = await stage.openMarket({ question: 'Does the bell ring?', minOrderSize: '1' });
    const fresh = await stage.open({}, undefined, `/m/${market.slug}`);
    const { page } = fresh;
    const bell = (name: string) => page.getByRole('banner').getByRole('button', { name, exact: true });
    const news = page.getByTestId('news').getByRole('link');
    const address = await takeTestWallet(fresh);
    await bell('News').click();
    await page.getByText('No news yet').waitFor();
    await page.keyboard.press('Escape');
    await place(fresh, { price: '40', shares: '10' });
    const other = stage.trader();
    await other.submit(market, { side: 'BUY', outcome: 1, pips: 6_000, lots: 400 });
    await bell('News, 1 unread').click();
    await news.filter({ hasText: 'Does the bell ring?Bought 4 Yes at 40¢' }).waitFor();
    await bell('News').click();
    await page.locator('.activity').getByRole('button', { name: 'Discussion' }).click();
    await page.getByLabel('Your comment').fill('Who hears it?');
    await page.getByRole('button', { name: 'Post' }).click();
    await page.locator('.comment').waitFor();
    const path = `/markets/${market.id}/comments`;
    const [{ id: parentId }] = (await stage.web().client.get(path)).body.data;
    expect((await other.post(path, { body: 'I do.', parentId })).status).toBe(201);
    const resolved = await stage.web().client.call('POST', `/admin/markets/${market.id}/resolve`, {
      token: ADMIN_TOKEN,
      body: { outcomeIndex: 0 },
    });
    expect(resolved.status).toBe(200);
    await bell('News, 2 unread').waitFor();
    // In a market that this browser has never shown; the wallet wrote there by another program.
    const elsewhere = await stage.openMarket({ question: 'Does it ring elsewhere?' });
    const { client } = stage.web();
    const key = await page.evaluate<string>(`localStorage.getItem('exchange.test-key')`);
    const same = createTrader(client, await domainOf(client), new Wallet(key));
    const question = await same.post(`/markets/${elsewhere.id}/comments`, { body: 'And here?' });
    const answer = { body: 'It does.', parentId: question.body.id };
    expect((await other.post(`/markets/${elsewhere.id}/comments`, answer)).status).toBe(201);
    // The answers are read with the page.
    await page.reload();
    await bell('News, 4 unread').focus();
    await page.keyboard.press('Enter');
    await soon(() => news.count()).toBe(5);
    await news.filter({ hasText: /elsewhere\?.* answered: It does\./ }).waitFor();
    const texts = (await news.allTextContents()).join('\n');
    expect(texts).toContain('You were paid $4.00');
    expect(texts).toContain('Your order for 10 Yes at 40¢ is cancelled: the market has closed.');
    expect(texts).toMatch(/answered: I do\./);
    expect(await news.filter({ hasText: 'New' }).count()).toBe(4);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await soon(() => bell('News').evaluate((button) => button.matches(':focus'))).toBe(true);
    expect((await fresh.page.getByTestId('account').getAttribute('data-address')) ?? '').toBe(address);
    await page.setViewportSize({ width: 320, height: 700 });
    await bell('News').click();
    await eventually(
      () => page.getByTestId('news').boundingBox(),
      (box) => {
        expect(box?.x).toBeGreaterThanOrEqual(0);
        expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(320);
      },
    );
    expect(await violations(page)).toEqual([]);
    await news.first().click();
    await news.first().waitFor({ state: 'detached' });
    await page.context().close();
  });
});
