import { readFileSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import { type BrowserStage, heard, place, state, submit, type Visit } from '../support/browser-stage';
import type { OpenMarket } from '../support/trader';
import { eventually, soon } from '../support/waiting';

interface At {
  readonly stage: BrowserStage;
  readonly visit: Visit;
  admin(path: string, body?: object, method?: string): Promise<void>;
}

/** More than two pages of the list. */
const MARKETS = 120;
/** The positions at which the long list is checked while it scrolls. */
const PLACES = 60;
const RULES = 'Yes if it rains.\n\nSee https://weather.example/lisbon for the figures.';
const SOURCE = 'https://weather.example/';

/** The steps of the walk that need a signed-in wallet with a little of everything. */
export function traderSteps(at: () => At): void {
  let market: OpenMarket;
  const page = () => at().visit.page;
  const tab = (name: string): Promise<void> =>
    page().locator('.activity').getByRole('button', { name, exact: false }).first().click();
  const row = (text: string): Locator => page().getByTestId('position').filter({ hasText: text });

  test('an address of its own, and words for those it is sent to', async () => {
    const { stage, visit } = at();
    market = await stage.openMarket({
      question: 'Does it rain on the walk?',
      description: RULES,
      resolutionSource: SOURCE,
      minOrderSize: '1',
      event: { slug: 'walk', title: 'The walk' },
    });
    await stage.maker.submit(market, { side: 'BUY', outcome: 0, pips: 4_000, lots: 10_000 });
    await stage.maker.submit(market, { side: 'BUY', outcome: 1, pips: 5_500, lots: 10_000 });
    const answer = await page().goto(`${stage.url}/m/${market.slug}`);
    expect(await answer?.text()).toContain(
      '<meta property="og:title" content="Does it rain on the walk?" />',
    );
    await state(page(), 'live');
    await page().getByRole('link', { name: 'The walk', exact: true }).click();
    await page().getByTestId('event-market').filter({ hasText: 'Does it rain on the walk?' }).waitFor();
    await page().goBack();
    await visit.ticket.waitFor();
  });

  test('the rules have their source, links that lead out, and the terms of an order', async () => {
    await tab('Rules');
    const rules = page().getByTestId('rules');
    await eventually(
      () => rules.locator('.prose').count(),
      (count) => expect(count).toBe(2),
    );
    const link = rules.getByRole('link', { name: 'https://weather.example/lisbon' });
    await soon(() => link.getAttribute('rel')).toContain('noopener');
    await soon(() => rules.textContent()).toMatch(
      /Decided byhttps:\/\/weather\.example\/.*Smallest order1 share(?!s).*Feenone/,
    );
    await tab('My orders');
  });

  test('keys: sides, outcomes, steps of the price, search, and a sheet that lists them', async () => {
    const { visit } = at();
    const pressed = (name: RegExp): Promise<string | null> =>
      visit.ticket.getByRole('button', { name }).getAttribute('aria-pressed');
    await page().locator('h1').click();
    await page().keyboard.press('n');
    await soon(() => pressed(/^No/)).toBe('true');
    await page().keyboard.press('y');
    await page().keyboard.press('s');
    await soon(async () => [await pressed(/^Yes/), await pressed(/^Sell$/)]).toEqual(['true', 'true']);
    await page().keyboard.press('b');
    await visit.ticket.getByLabel('Type').selectOption('GTC');
    const price = visit.ticket.getByLabel('Price');
    await price.fill('30');
    await page().keyboard.press('ArrowUp');
    await page().keyboard.press('Shift+ArrowUp');
    await soon(() => price.inputValue()).toBe('41');
    await page().keyboard.press('Escape');
    await page().keyboard.press('/');
    await soon(() => page().evaluate('document.activeElement.id')).toBe('search');
    await page().keyboard.press('Escape');
    await page().keyboard.press('?');
    await page().getByRole('dialog', { name: 'Keys' }).waitFor();
    await page().keyboard.press('Escape');
    await page().getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('an order has its size in the ladder, an end in time, and another price by one press', async () => {
    const { visit } = at();
    await visit.ticket.getByLabel('Expires').selectOption('hour');
    expect(await place(visit, { price: '20', shares: '10' })).toMatch(/^Order placed: 10 at 20¢/);
    const level = page().locator('[data-testid=level][data-price="0.2"]');
    await level.locator('.level-mine').filter({ hasText: '10' }).waitFor();
    const order = page().locator('[data-testid=order][data-status=OPEN]').filter({ hasText: 'at 20¢' });
    await order.getByRole('button', { name: 'Edit' }).click();
    await order.getByLabel('New price in cents').fill('21');
    await order.getByRole('button', { name: 'Replace' }).click();
    await heard(page(), 'The order is replaced.');
    await soon(() => page().evaluate('document.activeElement.dataset.testid')).toBe('order');
    const moved = page().locator('[data-testid=order][data-status=OPEN]').filter({ hasText: 'at 21¢' });
    await moved.waitFor();
    const hash = await moved.getAttribute('data-hash');
    const { body } = await at().stage.web().client.get(`/orders/${hash}`);
    expect(Number(body.expiration)).toBeGreaterThan(0);
    await page().getByRole('button', { name: 'This market' }).click();
    await page().locator('[data-testid=level][data-price="0.21"]').hover();
    await page().getByRole('button', { name: 'Take back my 10 at 21¢' }).click();
    await moved.waitFor({ state: 'detached' });
    await page().getByRole('button', { name: 'All', exact: true }).last().click();
  });

  test('the key x asks before it cancels anything, and a switch turns all single keys off', async () => {
    const { visit } = at();
    await place(visit, { price: '22', shares: '10' });
    const order = page().locator('[data-testid=order][data-status=OPEN]').filter({ hasText: 'at 22¢' });
    await page().locator('h1').click();
    await page().keyboard.press('x');
    const question = page().getByRole('dialog', { name: /^Cancel \d+ orders?\?$/ });
    await question.waitFor();
    await page().keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    await order.waitFor();
    const menu = async (name: string): Promise<void> => {
      await page().getByRole('button', { name: 'Account' }).click();
      await page().getByRole('button', { name }).click();
      await page().keyboard.press('Escape');
    };
    await menu('Turn keyboard shortcuts off');
    await page().locator('h1').click();
    await page().keyboard.press('n');
    await page().keyboard.press('x');
    await soon(() => visit.ticket.getByRole('button', { name: /^Yes/ }).getAttribute('aria-pressed')).toBe(
      'true',
    );
    await soon(() => question.count()).toBe(0);
    await menu('Turn keyboard shortcuts on');
    await page().locator('h1').click();
    await page().keyboard.press('x');
    await question.waitFor();
    await page().keyboard.press('Enter');
    await order.waitFor({ state: 'detached' });
    await heard(page(), 'cancelled.');
  });

  test('a split, a merge, and a position that is closed at once with its price named before', async () => {
    const { visit } = at();
    await page().locator('.sets summary').click();
    await page().getByLabel('Split dollars into pairs').fill('30');
    await page().getByRole('button', { name: 'Split', exact: true }).click();
    await page().getByRole('button', { name: 'Merge 30 pairs into $30.00' }).waitFor();
    const mine = page().locator('.position').filter({ hasText: '30 Yes' });
    await mine.getByRole('button', { name: 'Close' }).click();
    const sheet = page().getByRole('dialog');
    await sheet
      .getByTestId('close-words')
      .filter({ hasText: 'You receive $12.00; nothing is left.' })
      .waitFor();
    await sheet.getByRole('button', { name: 'Sell 30 Yes now' }).click();
    await heard(page(), 'Sold 30 Yes at 40¢');
    // The button that opened the sheet is gone with the position.
    await soon(() => page().evaluate('document.activeElement.id')).toBe('content');
    await visit.ticket.getByLabel('Type').selectOption('MARKET');
    await visit.ticket.getByLabel('Amount').fill('4.50');
    await submit(visit);
    await page().getByRole('button', { name: 'Merge 10 pairs into $10.00' }).click();
    await page().locator('.position').filter({ hasText: '20 No' }).waitFor();
  });

  test('the portfolio tells value, positions, history with a file of it, and what is closed', async () => {
    await page().getByTestId('account').click();
    await row('Does it rain').filter({ hasText: '20 No' }).waitFor();
    await soon(() => page().getByTestId('figures').textContent()).toMatch(
      /Portfolio\$.*Cash\$.*In orders\$.*Gain/,
    );
    await tab('History');
    for (const type of ['SPLIT', 'MERGE', 'TRADE', 'REDEEM'])
      await page().locator(`[data-testid=activity][data-type=${type}]`).first().waitFor();
    const [file] = await Promise.all([
      page().waitForEvent('download'),
      page().getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('history.csv');
    const lines = readFileSync(await file.path(), 'utf8').split('\r\n');
    expect(lines[0]).toMatch(/^"time",.*"price","shares","fee","fee in",.*"gain"$/);
    // Oldest first, with the line of the first funds, which is no trade and has no gain.
    expect(lines[1]).toMatch(/"GRANT".*,""$/);
    // A share of the pairs cost the midpoint of 40 and 45 cents.
    expect(lines.find((line) => line.includes('"SELL"'))).toMatch(
      /"30","0","COLLATERAL","12","-30","0","-0\.75"$/,
    );
    expect(lines.filter((line) => /"TRADE",.*"SELL".*,"-?\d+(\.\d+)?"$/.test(line))).not.toEqual([]);
    await tab('Gain by market');
    const gain = page().getByTestId('gain').filter({ hasText: 'Who wins the game?' });
    await gain.filter({ hasText: /\$\d+\.\d\d.*\$0\.00/ }).waitFor();
    await page().getByTestId('gain-sum').filter({ hasText: 'All markets' }).waitFor();
    await tab('Closed');
    await page()
      .getByTestId('closed')
      .filter({ hasText: 'Who wins the game?' })
      .filter({ hasText: 'Won' })
      .waitFor();
    await page().goBack();
  });

  test('people have names, pictures and answers, and take a like back', async () => {
    await tab('Discussion');
    await page().getByLabel('Your comment').fill('The clouds look dark.');
    await page().getByLabel('Your name here').fill('walker');
    await page().getByRole('button', { name: 'Post' }).click();
    await soon(() => page().getByLabel('Your comment').inputValue()).toBe('');
    expect(await page().evaluate('document.activeElement.textContent')).toBe('Post');
    const comment = page().locator('.comment').filter({ hasText: 'The clouds look dark.' });
    await comment.filter({ hasText: 'walker' }).locator('.identicon').waitFor();
    await comment.getByRole('button', { name: 'Like' }).click();
    await comment.getByRole('button', { name: 'Liked · 1' }).click();
    await comment.getByRole('button', { name: 'Like', exact: true }).waitFor();
    await comment.getByRole('button', { name: 'Reply' }).click();
    await page().getByLabel('Your reply').fill('They are mountains.');
    await page().locator('.comment-reply').getByRole('button', { name: 'Reply' }).click();
    await page().locator('.comment-reply .comment').filter({ hasText: 'They are mountains.' }).waitFor();
  });

  test('filters are in the address, and a starred market is found again', async () => {
    const item = page().getByTestId('market').filter({ hasText: 'Does it rain' });
    await page().getByRole('button', { name: 'Watch Does it rain on the walk?' }).click();
    await page().getByLabel('Show', { exact: true }).selectOption('WATCHED');
    await eventually(
      () => page().getByTestId('market').count(),
      (count) => expect(count).toBe(1),
    );
    await item.waitFor();
    await page().reload();
    await item.waitFor();
    expect(new URL(page().url()).search).toContain('show=WATCHED');
    await page().getByLabel('Show', { exact: true }).selectOption('OPEN');
  });

  test('a list of any number: it grows as it is scrolled, and no row is blank', async () => {
    const { stage } = at();
    for (let i = 0; i < MARKETS; i++) {
      await stage.openMarket({
        question: `Is this market number ${i}?`,
        category: 'many',
        minOrderSize: '1',
      });
    }
    await page().goto(`${stage.url}/?category=many`);
    const rows = page().getByTestId('market');
    const scroller = page().locator('.market-rows');
    await eventually(
      async () => {
        await scroller.evaluate((list) => list.scrollTo(0, list.scrollHeight));
        return rows.count();
      },
      (count) => expect(count).toBe(MARKETS),
    );
    // Scrolls down and up again, a place for each frame; counts where no row stood in the middle.
    const blank = await scroller.evaluate(async (list, places) => {
      const page = list.ownerDocument.defaultView;
      if (!page) return -1;
      const box = list.getBoundingClientRect();
      let without = 0;
      for (let place = 0; place < places; place++) {
        await new Promise((resolve) => page.requestAnimationFrame(resolve));
        const part = Math.sin((Math.PI * place) / places);
        list.scrollTo(0, part * (list.scrollHeight - list.clientHeight));
        const there = list.ownerDocument.elementFromPoint(box.x + 60, box.y + box.height / 2);
        if (!there?.closest('.market-item')?.textContent) without += 1;
      }
      return without;
    }, PLACES);
    expect(blank).toBe(0);
  });
}
