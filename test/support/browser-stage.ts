import type { OrderType } from 'ctf-exchange-client';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { freePort } from '../../src/local/ports';
import { startChromium } from './chromium';
import { type Deployment, type Process, startDeployment } from './deployment';
import { ADMIN_TOKEN } from './settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Limit,
  type OpenMarket,
  openMarket,
  type Trader,
} from './trader';
import { eventually } from './waiting';

/** A real exchange, web and worker on their own Redis, with a market that has a book, and a browser. */
export interface BrowserStage {
  readonly url: string;
  readonly market: OpenMarket;
  readonly maker: Trader;
  trader(): Trader;
  web(): Process;
  /** Rests an order of the maker's. */
  rest(limit: Limit): Promise<string>;
  /** The book from REST. */
  book(): Promise<Book>;
  openMarket(body?: Record<string, unknown>): Promise<OpenMarket>;
  /** `prepare` may change the page before its first script runs. */
  open(
    options?: BrowserContextOptions,
    prepare?: (page: Page) => Promise<unknown>,
    path?: string,
  ): Promise<Visit>;
  /** Redis stands still, as if its machine had stopped, and goes on. */
  silenceRedis(): void;
  wakeRedis(): void;
  /** Kills web, at once. */
  killWeb(): Promise<void>;
  startWeb(): Promise<void>;
  stop(): Promise<void>;
}

interface Sides {
  readonly bids: readonly { readonly price: string; readonly size: string }[];
  readonly asks: readonly { readonly price: string; readonly size: string }[];
}
export interface Book extends Sides {
  readonly sequence: number;
  readonly outcomes: readonly Sides[];
}

/** An open page, with all its errors and requests. */
export interface Visit {
  readonly page: Page;
  readonly ticket: Locator;
  readonly complaints: string[];
  /** Requests to other hosts than the exchange. */
  readonly outside: string[];
}

/** Below the time limit of a test, so that the error names the step that hangs. */
const STEP_MS_MAX = 150_000;

export const QUESTION = 'Will it rain in Lisbon tomorrow?';

export async function startBrowserStage(): Promise<BrowserStage> {
  const deployment: Deployment = await startDeployment();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = (): Promise<Process> => deployment.web({ PORT: String(port), PUBLIC_BASE_URL: url });
  let web = await start();
  const [browser] = await Promise.all([startChromium(), deployment.worker()]);
  const { client } = web;
  const domain: Domain = await domainOf(client);
  const open = (body: Record<string, unknown> = {}): Promise<OpenMarket> =>
    openMarket(client, ADMIN_TOKEN, body);
  const market = await open({
    question: QUESTION,
    category: 'weather',
    description: 'Yes if it rains.',
    // This one stays first even with the empty market of another test in the list.
    minOrderSize: '1',
  });
  const trader = (): Trader => createTrader(client, domain);
  const maker = trader();
  const rest = async (limit: Limit): Promise<string> => {
    const { body, status, text } = await maker.submit(market, limit);
    if (status !== 200) throw new Error(text);
    return body.orderHash;
  };
  // Offers of Yes at 55 and 60, bids at 50 and 45.
  await rest({ side: 'BUY', outcome: 1, pips: 4_500, lots: 10_000 });
  await rest({ side: 'BUY', outcome: 1, pips: 4_000, lots: 20_000 });
  await rest({ side: 'BUY', outcome: 0, pips: 5_000, lots: 10_000 });
  await rest({ side: 'BUY', outcome: 0, pips: 4_500, lots: 30_000 });
  await trader().submit(market, { side: 'BUY', outcome: 0, pips: 5_500, lots: 1_000 });
  return {
    url,
    market,
    maker,
    trader,
    rest,
    web: () => web,
    openMarket: open,
    book: async () => (await web.client.get(`/markets/${market.id}/orderbook`)).body,
    open: (options = {}, prepare, path = `/?market=${market.slug}`) =>
      visit(browser, url, path, options, prepare),
    silenceRedis: () => void process.kill(deployment.redis.pid, 'SIGSTOP'),
    wakeRedis: () => void process.kill(deployment.redis.pid, 'SIGCONT'),
    killWeb: async () => {
      web.child.kill('SIGKILL');
      await web.exited;
    },
    startWeb: async () => {
      web = await start();
    },
    stop: async () => {
      await browser.close();
      await deployment.stop();
    },
  };
}

async function visit(
  browser: Browser,
  url: string,
  path: string,
  options: BrowserContextOptions,
  prepare: (page: Page) => Promise<unknown> = async () => undefined,
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 }, ...options });
  context.setDefaultTimeout(STEP_MS_MAX);
  await context.addInitScript(KEEP_NEWS);
  const page = await context.newPage();
  const complaints: string[] = [];
  const outside: string[] = [];
  page.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type())) return;
    complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) outside.push(request.url());
  });
  page.on('websocket', (socket) => {
    if (!socket.url().startsWith(url.replace('http', 'ws'))) outside.push(socket.url());
  });
  await prepare(page);
  await page.goto(url + path);
  await state(page, 'live');
  return { page, ticket: page.getByTestId('ticket'), complaints, outside };
}

/** Waits for a text of the connection indicator. */
export const state = (page: Page, is: 'live' | 'stale' | 'reconnecting'): Promise<void> =>
  page.locator(`[data-testid=connection][data-state=${is}]`).waitFor();

/** Messages disappear after seconds, and a slow test must not miss them: the page keeps their texts. */
const KEEP_NEWS = `
  window.news = [];
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes) if (node.dataset?.testid === 'toast') window.news.push(node.textContent);
  }).observe(document, { childList: true, subtree: true });
`;

/** Waits for a message with these words, however long ago it was shown. */
export async function heard(page: Page, words: string): Promise<void> {
  await eventually(
    () => page.evaluate<string[]>('window.news'),
    (news) => expect(news).toContainEqual(expect.stringContaining(words)),
  );
}

/** Signs in with a wallet made in the page, and waits for its funds. */
export async function takeTestWallet({ page }: Visit): Promise<string> {
  await page.getByRole('button', { name: 'Test wallet', exact: true }).click();
  const account = page.getByTestId('account');
  await account.filter({ hasText: '$' }).waitFor();
  return (await account.getAttribute('data-address')) ?? '';
}

export interface Typed {
  readonly side?: 'Buy' | 'Sell';
  readonly outcome?: 'Yes' | 'No';
  readonly type?: OrderType;
  readonly price?: string;
  readonly shares: string;
}

/** Shows the fields that most orders do not need. */
export async function openMore(ticket: Locator): Promise<void> {
  const more = ticket.locator('.more');
  if ((await more.getAttribute('open')) === null) await more.locator('summary').click();
}

/** Fills in the ticket. */
export async function fillIn({ ticket }: Visit, order: Typed): Promise<void> {
  await ticket.getByRole('button', { name: order.side ?? 'Buy', exact: true }).click();
  await ticket.getByRole('button', { name: new RegExp(`^${order.outcome ?? 'Yes'}`) }).click();
  await ticket.getByLabel('Type').selectOption(order.type ?? 'GTC');
  if (order.type === 'MARKET') await openMore(ticket);
  await ticket.getByLabel('Price').fill(order.price ?? '');
  await ticket.getByLabel('Shares').fill(order.shares);
}

export const submit = ({ ticket }: Visit): Promise<void> => ticket.locator('button[type=submit]').click();

/** Fills in the ticket, places the order, and returns the result: the words under the ticket. */
export async function place(visit: Visit, order: Typed): Promise<string> {
  await fillIn(visit, order);
  await submit(visit);
  return said(visit);
}

/** The ticket's words once an order is done; a note that the answer is late is not the end. */
export const said = async ({ ticket }: Visit): Promise<string> =>
  (await ticket
    .getByRole('status')
    .filter({ hasNotText: /^No answer yet/ })
    .textContent()) ?? '';

/** The reason of a refusal. */
export const reason = async ({ ticket }: Visit): Promise<string> =>
  (await ticket.getByRole('alert').textContent()) ?? '';

/** The displayed levels, best first on both sides. */
export async function levels(page: Page): Promise<Sides> {
  const rows = await page.evaluate<Record<string, string>[]>(
    '[...document.querySelectorAll("[data-testid=level]")].map((level) => ({ ...level.dataset }))',
  );
  const side = (name: string) =>
    rows
      .filter((row) => row.side === name)
      .map(({ price = '', size = '' }) => ({ price, size }))
      .sort((a, b) =>
        name === 'bid' ? Number(b.price) - Number(a.price) : Number(a.price) - Number(b.price),
      );
  return { bids: side('bid'), asks: side('ask') };
}

/** Without the number of orders, which the page does not show. */
export const plain = ({ bids, asks }: Sides): Sides => ({
  bids: bids.map(({ price, size }) => ({ price, size })),
  asks: asks.map(({ price, size }) => ({ price, size })),
});
