import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createClient, walk as walkPages } from 'ctf-exchange-client';
import { PAGE_SIZES } from '../../../src/wire/pages';
import { ROOT } from '../../support/processes';
import { sampleOf } from '../../support/sample';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** Lists by time and direction: trades of a market, a wallet's own trades, its activity. */
let exchange: WebReplicas;
let market: Market;
let alice: Trader;
let bob: Trader;

type Row = { readonly id: string; readonly matchedAt?: string; readonly occurredAt?: string };
const TRADES = 12;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  const domain = await domainOf(exchange.client);
  [alice, bob] = [createTrader(exchange.client, domain), createTrader(exchange.client, domain)];
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  for (let i = 0; i < TRADES / 3; i++) {
    // Three makers met by one taker: rows of one moment.
    for (const lots of [100, 200, 300]) await bob.submit(market, limit('BUY', 1, 4_000, lots));
    await alice.submit(market, limit('BUY', 0, 6_000, 600));
  }
});
afterAll(() => exchange.stop());

const LISTS = ['trades', 'me/trades', 'me/activity'] as const;
type List = (typeof LISTS)[number];

async function page(list: List, query: string): Promise<{ data: Row[]; nextCursor: string | null }> {
  const path = list === 'trades' ? `/markets/${market.id}/trades` : `/${list}`;
  const { status, body } = await alice.get(`${path}?${query}`);
  expect({ query, status }).toEqual({ query, status: 200 });
  return body;
}

async function walk(list: List, query: string, meanwhile = async (): Promise<void> => {}): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, nextCursor }: { data: Row[]; nextCursor: string | null } = await page(
      list,
      `${query}${cursor && `&cursor=${cursor}`}`,
    );
    rows.push(...data);
    cursor = nextCursor;
    await meanwhile();
  }
  return rows;
}

const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);
const atMs = ({ matchedAt, occurredAt }: Row): number => Date.parse(matchedAt ?? occurredAt ?? '');

describe.each(LISTS)('%s', (list) => {
  test.each([1, 2, 5, 100])('oldest first is newest first reversed, in pages of %d', async (rows) => {
    const newest = await walk(list, `limit=${rows}`);
    expect(newest.length).toBeGreaterThanOrEqual(TRADES);
    expect(ids(await walk(list, `limit=${rows}&order=asc`))).toEqual(ids(newest).reverse());
  });

  test('since and until include the rows of both moments, in both directions and in pages of any size', async () => {
    const all = await walk(list, 'limit=100');
    const times = [...new Set(all.map(atMs))];
    const moments = times.flatMap((ms) => [ms - 1, ms, ms + 1]);
    const periods = [undefined, ...moments.slice(0, 7)].flatMap((since) =>
      [undefined, ...moments.slice(-7)].map((until) => ({ since, until })),
    );
    // One in ten: there are eight moments to begin at, and eight to end at.
    for (const { since, until } of sampleOf(`periods of ${list}`, periods, periods.length / 10)) {
      if (since !== undefined && until !== undefined && since > until) continue;
      const expected = ids(
        all.filter((row) => atMs(row) >= (since ?? 0) && atMs(row) <= (until ?? Number.POSITIVE_INFINITY)),
      );
      const query = [since && `since=${since}`, until && `until=${until}`].filter(Boolean).join('&');
      expect(ids(await walk(list, `${query}&limit=4`))).toEqual(expected);
      expect(ids(await walk(list, `${query}&limit=4&order=asc`))).toEqual(expected.reverse());
    }
  });

  test('a cursor continues after its row in either direction, whichever it came from', async () => {
    const all = ids(await walk(list, 'limit=100'));
    const { data, nextCursor } = await page(list, 'limit=5');
    expect(ids(data)).toEqual(all.slice(0, 5));
    expect(ids((await page(list, `limit=100&order=asc&cursor=${nextCursor}`)).data)).toEqual(
      all.slice(0, 4).reverse(),
    );
    expect(ids((await page(list, `limit=100&cursor=${nextCursor}`)).data)).toEqual(all.slice(5));
  });

  test('events during a walk appear at its end, oldest first, and not at all, newest first', async () => {
    const trade = async (): Promise<void> => {
      await bob.submit(market, limit('BUY', 1, 4_500, 100));
      await alice.submit(market, limit('BUY', 0, 5_500, 100));
    };
    const before = ids(await walk(list, 'limit=100'));
    let left = 3;
    const meanwhile = async (): Promise<void> => {
      if (left-- > 0) await trade();
    };
    expect(ids(await walk(list, 'limit=3', meanwhile))).toEqual(before);
    left = 2;
    const during = ids(await walk(list, 'limit=3&order=asc', meanwhile));
    expect(during).toEqual(ids(await walk(list, 'limit=100&order=asc')));
    expect(during.length).toBe(before.length + 5);
  });

  test('polls that follow the cursor, then the time of their last row, pass a moment with more rows than a page', async () => {
    const seen = new Set<string>();
    let since = 0;
    for (let poll = 0; poll < 3; poll++) {
      const rows = await walk(list, `order=asc&limit=2&since=${since}`);
      for (const row of rows) {
        seen.add(row.id);
        since = atMs(row);
      }
      // The last moment of each poll has three trades.
      for (const lots of [100, 200, 300]) await bob.submit(market, limit('BUY', 1, 4_000, lots));
      await alice.submit(market, limit('BUY', 0, 6_000, 600));
    }
    for (const row of await walk(list, `order=asc&limit=2&since=${since}`)) seen.add(row.id);
    expect([...seen]).toEqual(ids(await walk(list, 'limit=100&order=asc')));
  });

  test.each([
    ['since=tomorrow', 'since'],
    ['until=1.5', 'until'],
    ['since=2&until=1', 'since'],
    ['order=up', 'order'],
  ])('%s is refused by name', async (query, path) => {
    const where = list === 'trades' ? `/markets/${market.id}/trades` : `/${list}`;
    const { status, body } = await alice.get(`${where}?${query}`);
    expect([status, body.code, body.errors[0].path]).toEqual([400, 'INVALID_REQUEST', path]);
  });
});

/** One poll by the lines of docs/use/client.md, which leave these names to their reader. Returns the next `since`. */
type Poll = (
  client: ReturnType<typeof createClient>,
  walk: typeof walkPages,
  id: string,
  seen: Set<string>,
  onTrade: (trade: Row) => void,
  since: number,
) => Promise<number>;

test('polls by the lines of docs/use/client.md pass a command that makes more trades than a page has', async () => {
  const page = readFileSync(path.join(ROOT, 'docs/use/client.md'), 'utf8');
  const [, lines = ''] = /\n## Polling\n[^#]*?```js\n(.*?)```/s.exec(page) ?? [];
  expect(lines).toContain('onTrade(trade)');
  const names = ['client', 'walk', 'id', 'seen', 'onTrade', 'since'];
  const poll: Poll = new Function(...names, `return (async () => {${lines}; return since; })()`) as Poll;
  const client = createClient({ baseUrl: exchange.client.url });
  const { body } = await exchange.client.get(`/markets/${market.id}/trades`);
  const makers = PAGE_SIZES.trades.usual + 10;
  expect(body.data.length).toBeLessThanOrEqual(PAGE_SIZES.trades.usual);
  const sweep = async (): Promise<void> => {
    for (let i = 0; i < makers; i++) await bob.submit(market, limit('BUY', 1, 4_000, 100));
    const { body: taker } = await alice.submit(market, limit('BUY', 0, 6_000, 100 * makers));
    expect([taker.status, taker.filledSize]).toEqual(['FILLED', String(makers)]);
  };
  const [seen, heard] = [new Set<string>(), [] as string[]];
  let since = 0;
  for (let turn = 0; turn < 2; turn++) {
    await sweep();
    since = await poll(client, walkPages, market.id, seen, ({ id }) => void heard.push(id), since);
  }
  await alice.submit(market, limit('SELL', 0, 6_000, 100));
  await bob.submit(market, limit('SELL', 1, 4_000, 100));
  await poll(client, walkPages, market.id, seen, ({ id }) => void heard.push(id), since);
  // Each trade once, in its order, and none is missing.
  expect(heard).toEqual(ids(await walk('trades', 'limit=500&order=asc')));
});
