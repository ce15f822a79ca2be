import {
  type BrowserStage,
  levels,
  place,
  plain,
  QUESTION,
  startBrowserStage,
  state,
  takeTestWallet,
} from '../support/browser-stage';
import { describeInBrowser } from '../support/chromium';
import { eventually, soon } from '../support/waiting';

describeInBrowser('the server goes away', () => {
  let stage: BrowserStage;
  beforeAll(async () => {
    stage = await startBrowserStage();
  });
  afterAll(() => stage?.stop());

  test('the page shows the fault, and recovers by itself with the right book and the same wallet', async () => {
    const visit = await stage.open();
    const { page } = visit;
    const address = await takeTestWallet(visit);
    await state(page, 'live');
    await stage.killWeb();
    await state(page, 'reconnecting');
    await stage.startWeb();
    await stage.rest({ side: 'BUY', outcome: 0, pips: 5_100, lots: 1_234 });
    await state(page, 'live');
    await eventually(
      async () => ({ shown: await levels(page), book: plain(await stage.book()) }),
      ({ shown, book }) => expect(shown).toEqual(book),
    );
    expect((await levels(page)).bids[0]).toEqual({ price: '0.51', size: '12.34' });
    await soon(() => page.getByTestId('account').getAttribute('data-address')).toBe(address);
    expect(await place(visit, { price: '33', shares: '2' })).toMatch(/^Order placed/);
  });

  test('while Redis is silent a visitor reads that nothing answers, not that the market is missing, and nothing is called live', async () => {
    const { page } = await stage.open();
    stage.silenceRedis();
    try {
      await page.goto(`${stage.url}/m/${stage.market.slug}`);
      await page.getByText('The market could not be loaded').waitFor();
      await soon(() => page.locator('.notice').allTextContents()).toContainEqual(
        expect.stringContaining('The exchange cannot answer right now. The page keeps trying.'),
      );
      await state(page, 'reconnecting');
      await soon(() => page.getByText(/not found|Is this device online/).count()).toBe(0);
    } finally {
      stage.wakeRedis();
    }
    await page.getByRole('heading', { level: 1, name: QUESTION }).waitFor();
    await state(page, 'live');
  });
});
