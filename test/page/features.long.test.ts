import {
  type BrowserStage,
  place,
  startBrowserStage,
  takeTestWallet,
  type Visit,
} from '../support/browser-stage';
import { describeInBrowser } from '../support/chromium';
import { eventually, soon, until } from '../support/waiting';

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

  test('a row of the list is 56 pixels high and tells the change of the day', async () => {
    expect((await row().boundingBox())?.height).toBe(56);
    await soon(() => row().textContent()).not.toMatch(/[▲▼]/);
    await stage.trader().submit(stage.market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 9_500 });
    await row().filter({ hasText: '▲ 5 points today' }).waitFor();
  });

  test('the book is drawn by its depth, and puts prices of 5 cents together', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'Depth', exact: true }).click();
    const depth = page.getByTestId('depth');
    await depth.getByRole('img', { name: 'Depth of Yes: bids for 400 shares, offers of 195' }).waitFor();
    await soon(() => depth.textContent()).toContain('400 wanted at 45¢ or more');
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
    await card.getByRole('button', { name: /^No \d+¢$/ }).click();
    await page.waitForURL(`**/m/${stage.market.slug}`);
    await ticket.getByRole('button', { name: /^No/, pressed: true }).waitFor();
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
    await person.getByLabel('Name').fill('river_walker');
    await person.getByLabel('About me').fill('I count clouds.');
    await person.getByRole('button', { name: 'Save' }).click();
    await person.getByRole('heading', { name: 'river_walker' }).waitFor();
    const other = await stage.open({}, undefined, new URL(page.url()).pathname);
    await other.page.getByTestId('person').filter({ hasText: 'I count clouds.' }).waitFor();
    await soon(() => other.page.getByLabel('About me').count()).toBe(0);
    await other.page.context().close();
  });
});
