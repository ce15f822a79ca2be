import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../../src/local/ports';
import { createShell } from '../cli/shell';
import { describeInBrowser, startChromium } from '../support/chromium';
import { type Deployment, type Process, startDeployment } from '../support/deployment';
import { DESK, LOOKS, looksRight, violations } from '../support/looks';
import { ROOT, type Started } from '../support/processes';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, openMarket, type Trader } from '../support/trader';
import { eventually, soon } from '../support/waiting';

const CONSOLE_GZ_MAX = 40_000;
const STEP_MS_MAX = 150_000;
/** A word has room; a letter is narrower. */
const CELL_PX_MIN = 60;
const QUESTION = 'Will the lake freeze?';

test('the console loads by itself, and with its styles it has at most 40 kB', () => {
  const folder = path.join(ROOT, 'dist/page');
  const html = readFileSync(path.join(folder, 'operate.html'), 'utf8');
  const files = [...html.matchAll(/\/assets\/operate-[^"]+/g)].map(([file]) => path.join(folder, file));
  expect(files).toHaveLength(2);
  const sizes = files.map((file) => readFileSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(CONSOLE_GZ_MAX);
  expect(readFileSync(path.join(folder, 'index.html'), 'utf8')).not.toContain('operate');
});

describeInBrowser('an operator works without the command line', () => {
  let deployment: Deployment;
  let web: Process;
  let browser: Browser;
  let page: Page;
  let url: string;
  let alice: Trader;
  let worker: Started;
  const complaints: string[] = [];

  beforeAll(async () => {
    deployment = await startDeployment();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    web = await deployment.web({ PORT: String(port), PUBLIC_BASE_URL: url });
    [browser, worker] = await Promise.all([startChromium(), deployment.worker()]);
    const domain = await domainOf(web.client);
    alice = createTrader(web.client, domain);
    page = await open(DESK);
  });
  afterAll(async () => {
    await browser?.close();
    await deployment?.stop();
  });

  async function open(
    viewport: { width: number; height: number },
    colorScheme: 'light' | 'dark' = 'light',
  ): Promise<Page> {
    const context = await browser.newContext({ viewport, colorScheme });
    context.setDefaultTimeout(STEP_MS_MAX);
    const opened = await context.newPage();
    opened.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    opened.on('pageerror', (error) => complaints.push(String(error)));
    await opened.goto(`${url}/operate#${ADMIN_TOKEN}`);
    await opened.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return opened;
  }

  const show = async (name: string): Promise<void> => {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };
  const row = () => page.locator('tr', { hasText: QUESTION });
  const logged = (text: string) =>
    eventually(
      async () => (await page.getByTestId('log-entry').textContent()) ?? '',
      (entry) => expect(entry).toContain(text),
    );
  const market = async () =>
    (await web.client.get('/markets?limit=50')).body.data.find(
      (one: { question: string }) => one.question === QUESTION,
    );
  const becomes = (look: () => Promise<unknown>, expected: object) =>
    eventually(look, (seen) => expect(seen).toMatchObject(expected));
  const confirm = async (word: string, button: string): Promise<void> => {
    await soon(() => page.getByRole('button', { name: button }).isDisabled()).toBe(true);
    await page.getByLabel(`Type ${word} to confirm`).fill(word);
    await page.getByRole('button', { name: button }).click();
  };

  test('the token leaves the address as soon as it is read, and a wrong one opens nothing', async () => {
    expect(page.url()).toBe(`${url}/operate`);
    const context = await browser.newContext();
    context.setDefaultTimeout(STEP_MS_MAX);
    const stranger = await context.newPage();
    await stranger.goto(`${url}/operate#${'x'.repeat(40)}`);
    await stranger.getByRole('heading', { name: 'Operate the exchange' }).waitFor();
    await stranger.getByRole('alert').filter({ hasText: 'does not accept this token' }).waitFor();
    await stranger.getByLabel("Operator's token").fill('y'.repeat(40));
    await stranger.getByRole('button', { name: 'Enter' }).click();
    await stranger.getByRole('alert').filter({ hasText: 'does not accept this token' }).waitFor();
    await stranger.getByLabel("Operator's token").fill(ADMIN_TOKEN);
    await stranger.getByRole('button', { name: 'Enter' }).click();
    await stranger.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await stranger.reload();
    await stranger.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await context.close();
  });

  test('a market is created with its checks and its preview', async () => {
    await show('Markets');
    await page.getByRole('button', { name: 'New market' }).click();
    const create = page.getByRole('button', { name: 'Create the market' });
    await soon(() => create.isDisabled()).toBe(true);
    await page.getByLabel('Question').fill(QUESTION);
    await page.getByLabel('Category').fill('Not A Word');
    await soon(() => create.isDisabled()).toBe(true);
    await page.getByLabel('Category').fill('weather');
    await page.getByLabel('First outcome').fill('Ice');
    await page.getByLabel('Second outcome').fill('Water');
    await page.getByLabel('Closes at (UTC)').fill('2040-01-31T12:00');
    await soon(() => page.getByRole('article', { name: 'Preview' }).textContent()).toContain(QUESTION);
    expect(await violations(page)).toEqual([]);
    await create.click();
    await logged('POST /admin/markets');
    await row().waitFor();
    await becomes(market, {
      question: QUESTION,
      category: 'weather',
      closesAt: '2040-01-31T12:00:00.000Z',
      outcomes: [{ name: 'Ice' }, { name: 'Water' }],
    });
  });

  test('an event begins with its first market, and another one is added with its terms', async () => {
    await show('Markets');
    await page.getByRole('button', { name: 'New market' }).click();
    await page.getByLabel('Question').fill('Will it snow in May?');
    await page.getByLabel('Price step').selectOption('0.1¢');
    await page.getByLabel('Lot in shares').fill('5');
    await page.getByLabel('Smallest order in shares').fill('10');
    await page.getByLabel('Fee in percent').fill('1.25');
    await page.getByLabel('Event', { exact: true }).fill('Snow in spring?');
    await page.getByText('/e/snow-in-spring').waitFor();
    await page.getByRole('button', { name: 'Create the market' }).click();
    const may = page.locator('tr', { hasText: 'Will it snow in May?' });
    await may.getByRole('button', { name: 'Add to the event' }).click();
    await page.getByRole('heading', { name: 'New market in “Snow in spring?”' }).waitFor();
    await page.getByLabel('Question').fill('Will it snow in June?');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create the market' }).click();
    await page.locator('tr', { hasText: 'Will it snow in June?' }).getByText('Snow in spring?').waitFor();
    const { title, markets } = (await web.client.get('/events/snow-in-spring')).body;
    const terms = { tickSize: '0.001', lotSize: '5', minOrderSize: '10', feeRateBps: 125 };
    expect({ title, markets }).toMatchObject({
      title: 'Snow in spring?',
      markets: [
        { question: 'Will it snow in May?', ...terms },
        { question: 'Will it snow in June?', ...terms },
      ],
    });
    for (const { id } of markets) await web.client.post(`/admin/markets/${id}/void`, { token: ADMIN_TOKEN });
  });

  test('a market is edited, paused and resumed', async () => {
    await row().getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Rules').fill('Yes if it is frozen at noon.');
    await page.getByRole('button', { name: 'Save the market' }).click();
    await logged('PATCH /admin/markets/{id}');
    await becomes(market, { description: 'Yes if it is frozen at noon.' });
    await row().getByRole('button', { name: 'Pause' }).click();
    await logged(`Paused “${QUESTION}”`);
    await becomes(market, { status: 'PAUSED' });
    await page.getByRole('button', { name: 'Undo: Resume' }).click();
    await logged(`Resumed “${QUESTION}”`);
    await becomes(market, { status: 'OPEN' });
  });

  test('the exchange is halted and opened again, each after its word is typed', async () => {
    await show('Overview');
    await page.getByLabel('Halted').check();
    await page.getByLabel('Message for everybody').fill('Back at noon.');
    await confirm('HALTED', 'Set the mode');
    await logged('PUT /admin/mode');
    const config = async () => (await web.client.get('/config')).body;
    await becomes(config, { mode: 'HALTED', message: 'Back at noon.' });
    await page.locator('.figure', { hasText: 'Halted' }).waitFor();
    await page.getByLabel('Normal').check();
    await page.getByLabel('Message for everybody').fill('');
    await confirm('NORMAL', 'Set the mode');
    await becomes(config, { mode: 'NORMAL' });
  });

  test('a resolution takes two steps, shows its effect and requires the name of the outcome', async () => {
    const { id } = await market();
    await alice.post(`/markets/${id}/split`, { size: '50' });
    await alice.submit(await market(), { side: 'SELL', outcome: 0, pips: 6_000, lots: 1_000 });
    await show('Markets');
    await row().getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('Yes if it is frozen at noon.').waitFor();
    await page.getByLabel('Ice').check();
    await page.getByLabel('Evidence').fill('https://lake.test/frozen');
    await page.getByRole('button', { name: 'Go on' }).click();
    await eventually(
      async () => (await page.getByTestId('resolution').textContent()) ?? '',
      (text) => expect(text).toBe('Result: Ice. 1 holders, $50.00 to 1 of them, 1 orders cancelled.'),
    );
    expect(await violations(page)).toEqual([]);
    await confirm('Ice', 'Resolve the market');
    await logged('POST /admin/markets/{id}/resolve');
    await becomes(market, {
      status: 'RESOLVED',
      resolution: { outcomeIndex: 0, evidence: 'https://lake.test/frozen' },
    });
  });

  test('a wallet can be looked up, and a comment deleted', async () => {
    const { id } = await market();
    await alice.post(`/markets/${id}/comments`, { body: 'Buy my coin.' });
    await show('People');
    await page.getByLabel('Address').fill(alice.address);
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.locator('td', { hasText: 'CANCELLED' }).first().waitFor();
    await page.getByRole('textbox', { name: 'Market' }).fill(id);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.locator('tr', { hasText: 'Buy my coin.' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Delete “Buy my coin.”').waitFor();
    await confirm('delete', 'Delete the comment');
    await logged('DELETE /admin/comments/{comment_id}');
    expect((await web.client.get(`/markets/${id}/comments`)).body.data[0]).toMatchObject({ deleted: true });
  });

  test('the overview knows an audit of the command line, which is not in the log', async () => {
    await show('Overview');
    await page.locator('.figure').filter({ hasText: 'Last auditNone' }).waitFor();
    expect((await createShell(deployment.redis.url).exchange('audit')).code).toBe(0);
    await page.locator('.figure').filter({ hasText: 'Last auditNothing differs' }).waitFor();
  });

  test('the audit finds no difference, and the log has every action', async () => {
    await show('Audit');
    await page.getByRole('button', { name: 'Run the audit' }).click();
    await page.getByRole('heading', { name: 'Nothing differs' }).waitFor();
    await show('Log');
    await page.locator('tbody tr').first().waitFor();
    await soon(() => page.getByTestId('log-entry').textContent()).toBe('');
    const narrowest = await page
      .locator('tbody td')
      .evaluateAll((cells) => Math.min(...cells.map((cell) => cell.getBoundingClientRect().width)));
    expect(narrowest).toBeGreaterThan(CELL_PX_MIN);
    const actions = await page.locator('tbody td[data-label=Action]').allTextContents();
    expect(actions).toEqual([
      'GET /admin/audit',
      'DELETE /admin/comments/{comment_id}',
      'POST /admin/markets/{id}/resolve',
      'PUT /admin/mode',
      'PUT /admin/mode',
      'POST /admin/markets/{id}/resume',
      'POST /admin/markets/{id}/pause',
      'PATCH /admin/markets/{id}',
      'POST /admin/markets/{id}/void',
      'POST /admin/markets/{id}/void',
      'POST /admin/markets',
      'POST /admin/markets',
      'POST /admin/markets',
    ]);
    await page.getByText(`Resolved “${QUESTION}”: Ice won`).waitFor();
    await page.getByText('Set the mode to HALTED, “Back at noon.”').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save this page as CSV' }).click(),
    ]);
    expect(readFileSync(await file.path(), 'utf8')).toContain('"Voided “Will it snow in May?”"');
    await show('Overview');
    await page.locator('.figure').filter({ hasText: 'Last auditNothing differs' }).waitFor();
    await show('Settlements');
  });

  test('what needs attention is a list: a dead worker is red, a market that has ended amber, and the tab counts them', async () => {
    const attention = (name: string, level: string) =>
      page.locator(`[data-testid=attention][data-level=${level}]`, { hasText: name });
    const { id } = await openMarket(web.client, ADMIN_TOKEN, { question: 'Is it over?' });
    await web.client.post(`/admin/markets/${id}/close`, { token: ADMIN_TOKEN });
    await show('Overview');
    await attention('1 market has ended and no result', 'amber').waitFor();
    await page.locator('.figure', { hasText: 'WorkerAt work' }).waitFor();
    worker.child.kill('SIGKILL');
    await attention('none is at work', 'red').waitFor();
    await page.route('**/admin/overview', (route) => route.fulfill({ body: 'cut' }));
    await page.getByText('The figures below are old').waitFor();
    await page.unroute('**/admin/overview');
    await page.getByText('The figures below are old').waitFor({ state: 'detached' });
    await page.locator('.figure', { hasText: 'WorkerNone' }).waitFor();
    await soon(() => page.title()).toMatch(/^\([2-9]\) Operate$/);
    const ready = async () => (await web.client.get('/readyz?verbose')).body;
    const overview = (await web.client.get('/admin/overview', { token: ADMIN_TOKEN })).body;
    expect((await ready()).warnings).toEqual(overview.warnings);
    expect(await ready()).toMatchObject({ status: 'ready' });
    await deployment.worker();
    await attention('none is at work', 'red').waitFor({ state: 'detached' });
    await web.client.post(`/admin/markets/${id}/void`, { token: ADMIN_TOKEN });
    await attention('ended', 'amber').waitFor({ state: 'detached' });
  });

  test.each(LOOKS)(
    '%s at %o: every view is accessible, and nothing overflows',
    async (colorScheme, viewport) => {
      await openMarket(web.client, ADMIN_TOKEN, { question: `Will it hail on day ${viewport.width}?` });
      page = await open(viewport, colorScheme);
      for (const name of ['Overview', 'Markets', 'Settlements', 'People', 'Audit', 'Log']) {
        await show(name);
        await page.waitForLoadState('networkidle');
        await looksRight(name, page);
      }
      await page.context().close();
    },
  );

  test.each(['%', '%E0%A4', 'constructor', 'a-long-text-that-is-no-token', `${'ü'.repeat(20)}`])(
    'the address #%s neither stops the console nor signs the operator out',
    async (hash) => {
      page = await open(DESK);
      const go = (): Promise<unknown> => page.evaluate(`location.hash = ${JSON.stringify(`#${hash}`)}`);
      await show('Markets');
      await go();
      await page.getByRole('heading', { level: 1, name: /Overview|Markets/ }).waitFor();
      await go();
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.context().close();
    },
  );

  test("the browser's console has nothing but the refusal of a wrong token", () => {
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
  });
});
