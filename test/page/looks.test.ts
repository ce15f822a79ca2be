import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import {
  type BrowserStage,
  place,
  startBrowserStage,
  takeTestWallet,
  type Visit,
} from '../support/browser-stage';
import { describeInBrowser } from '../support/chromium';
import { sampleOf } from '../support/sample';
import { eventually } from '../support/waiting';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const DESK = { width: 1_440, height: 900 };
const TABLET = { width: 1_024, height: 768 };
const NARROW = { width: 320, height: 640 };
const PHONE = { width: 390, height: 844 };
const LOOKS = [
  ['light', DESK],
  ['dark', PHONE],
  ['dark', DESK],
  ['light', PHONE],
  ['light', TABLET],
  ['dark', NARROW],
] as const;

/** The findings of a WCAG AA checker, by rule and element. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<AxeResults>(
    // Of the passed checks, one element of each rule is enough.
    `axe.run({ runOnly: { type: 'tag', values: ${JSON.stringify(RULES)} }, resultTypes: ['violations'] })`,
  );
  expect(found.passes.length).toBeGreaterThan(15);
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}

describeInBrowser('how the page looks', () => {
  let stage: BrowserStage;
  beforeAll(async () => {
    stage = await startBrowserStage();
  }, 60_000);
  afterAll(() => stage?.stop());

  const close = ({ page }: Visit): Promise<void> => page.context().close();

  test.each(sampleOf('themes and sizes of the page', LOOKS, 2))(
    '%s at %o is accessible before and after signing in, and nothing overflows',
    async (colorScheme, viewport) => {
      const visit = await stage.open({ colorScheme, viewport });
      const { page } = visit;
      const width = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth');
      expect(await violations(page)).toEqual([]);
      expect(await width()).toBeLessThanOrEqual(viewport.width);
      await takeTestWallet(visit);
      await place(visit, { price: '40', shares: '10' });
      await place(visit, { type: 'IOC', price: '60', shares: '3' });
      await page.locator('.position').waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await width()).toBeLessThanOrEqual(viewport.width);
      await close(visit);
    },
  );

  test('the ticket is within reach on a phone, and the reason of a refusal can be read there', async () => {
    const visit = await stage.open({ viewport: PHONE, hasTouch: true, isMobile: true });
    await visit.page.getByLabel('On this phone').getByRole('button', { name: /^No/ }).tap();
    const box = await visit.ticket.getByRole('button', { name: 'Buy', exact: true }).boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect(box?.y).toBeLessThan(PHONE.height);
    expect(await visit.ticket.getByRole('button', { name: /^No/ }).getAttribute('aria-pressed')).toBe('true');
    await visit.ticket.getByLabel('Price').fill('142');
    await visit.ticket.getByLabel('Shares').fill('5');
    await visit.ticket.locator('button[type=submit]').tap();
    expect(await visit.ticket.getByRole('alert').textContent()).toBe('A price lies between 1¢ and 99¢.');
    expect(await violations(visit.page)).toEqual([]);
    await close(visit);
  });

  test('the theme is the system’s until the reader chooses, and the choice is stored', async () => {
    const visit = await stage.open({ colorScheme: 'dark' });
    const { page } = visit;
    const theme = (): Promise<string> => page.evaluate('document.documentElement.dataset.theme');
    expect(await theme()).toBe('dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await eventually(theme, (shown) => expect(shown).toBe('light'));
    await page.getByRole('button', { name: 'Switch to the dark theme' }).click();
    await page.reload();
    expect(await theme()).toBe('dark');
    await close(visit);
  });

  test('parts that load later move nothing', async () => {
    const visit = await stage.open();
    await visit.page.getByTestId('chart').locator('canvas').first().waitFor();
    const shift = await visit.page.evaluate<number>(`new Promise((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) sum += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => resolve(sum), 300);
    })`);
    // The limit above which browsers say "needs improvement".
    expect(shift).toBeLessThan(0.1);
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
    expect(await visit.page.locator('.ladder-middle').textContent()).toContain('Mid 19.98¢Spread 0.05¢');
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
