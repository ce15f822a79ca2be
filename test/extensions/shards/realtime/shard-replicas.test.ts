import { createBookClient } from '../../../realtime/book-client';
import { type Listener, listen } from '../../../support/listener';
import { ADMIN_TOKEN } from '../../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type OpenMarket,
  openMarket,
  type Trader,
} from '../../../support/trader';
import { until } from '../../../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../../../support/web-replicas';

/** Two whole web processes over four shards, with signed orders over HTTP: clients of each see all that the other accepts. */
const SHARDS = 4;
const PRIVATE = ['order:update', 'trade:update', 'balance:update'];
const every = Array.from({ length: SHARDS }, (_, shard) => shard);

interface Numbered {
  readonly accountSequence: number;
  readonly previousAccountSequence: number;
}

let exchange: WebReplicas;
let [a, b]: Replica[] = [];
let domain: Domain;
let markets: OpenMarket[];
const open: { close(): void }[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2, env: { SHARDS: String(SHARDS) } });
  [a, b] = exchange.replicas;
  domain = await domainOf(exchange.client);
  markets = [];
  for (const shard of every) markets.push(await openMarket(exchange.client, ADMIN_TOKEN, { shard }));
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => exchange.stop());

const traderAt = (replica: Replica | undefined): Trader => createTrader((replica as Replica).client, domain);
async function listener(owner: Trader, at: Replica | undefined, auth: object = {}): Promise<Listener> {
  const one = await listen((at as Replica).url, { token: await owner.token(), ...auth });
  open.push(one);
  return one;
}
const numbered = ({ told }: Listener): Numbered[] =>
  told.flatMap(([event, body]) => (PRIVATE.includes(event) ? [body] : []));
const statusOf = (one: Listener, hash: string): string | undefined =>
  one.all('order:update').findLast(({ orderHash }) => orderHash === hash)?.status;

function expectUnbroken(events: readonly Numbered[]): void {
  for (const [i, { accountSequence, previousAccountSequence }] of events.entries()) {
    expect(accountSequence).toBeGreaterThan(previousAccountSequence);
    if (i > 0) expect(previousAccountSequence).toBe(events[i - 1]?.accountSequence);
  }
}

const bid = (pips: number) => ({ side: 'BUY', outcome: 0, pips, lots: 100 }) as const;
const ask = (pips: number) => ({ side: 'BUY', outcome: 1, pips: 10_000 - pips, lots: 100 }) as const;

/** An order of each trader in every shard, all accepted by the second replica, that meet. */
async function tradeInAll(owner: Trader, other: Trader, pips: number): Promise<string[]> {
  const hashes: string[] = [];
  for (const market of markets) {
    const rested = await owner.submit(market, bid(pips));
    expect(rested.body.status).toBe('OPEN');
    hashes.push(rested.body.orderHash);
    expect((await other.submit(market, ask(pips))).body.status).toBe('FILLED');
  }
  return hashes;
}

test('a client of one replica follows orders, trades and books of all shards that another one accepts, under one row of numbers', async () => {
  const [alice, bob] = [traderAt(b), traderAt(b)];
  const here = await listener(alice, a);
  const books = await Promise.all(
    markets.map(async ({ conditionId }) => {
      const book = createBookClient(conditionId);
      open.push(book);
      await book.connect((a as Replica).url);
      return book;
    }),
  );
  const filled = await tradeInAll(alice, bob, 5_000);
  const resting: string[] = [];
  for (const market of markets) resting.push((await alice.submit(market, bid(4_000))).body.orderHash);
  await until('every order is told', () =>
    [
      ...filled.map((hash) => statusOf(here, hash) === 'FILLED'),
      ...resting.map((hash) => statusOf(here, hash) === 'OPEN'),
    ].every(Boolean),
  );
  await until('every trade is told', () => here.all('trade:update').length === SHARDS);
  const { collateral } = (await alice.get('/me/balances')).body;
  await until('the last balance is told', () => {
    const told = here.all('balance:update').at(-1)?.collateral;
    return told?.available === collateral.available && told.reserved === collateral.reserved;
  });
  expectUnbroken(numbered(here));
  for (const [shard, book] of books.entries()) {
    const shown = (await (b as Replica).client.get(`/markets/${markets[shard]?.id}/orderbook`)).body;
    await until(`book of shard ${shard}`, () => book.sequence() === shown.sequence);
    expect(book.faults).toEqual([]);
  }
});

test('a client that reconnects to another replica after its last number misses nothing of any shard', async () => {
  const [alice, bob] = [traderAt(a), traderAt(b)];
  const first = await listener(alice, a);
  const seen = await tradeInAll(alice, bob, 5_500);
  await until('the trades are told', () => first.all('trade:update').length === SHARDS);
  await until('the fills are told', () => seen.every((hash) => statusOf(first, hash) === 'FILLED'));
  const last = numbered(first).at(-1)?.accountSequence;
  first.close();
  const missed = await tradeInAll(alice, bob, 5_600);
  const { epoch } = (await (b as Replica).client.get('/config')).body;
  const again = await listener(alice, b, { lastAccountSequence: last, epoch });
  expect(await again.heard('account:resumed')).toEqual({ accountSequence: last, resumed: true });
  await until('what was missed is told', () => missed.every((hash) => statusOf(again, hash) === 'FILLED'));
  await until('the trades that were missed are told', () => again.all('trade:update').length >= SHARDS);
  const trades = [...first.all('trade:update'), ...again.all('trade:update')].map(
    ({ id }: { id: string }) => id,
  );
  expect(trades).toHaveLength(2 * SHARDS);
  expect(new Set(trades).size).toBe(trades.length);
  expect(numbered(again)[0]?.previousAccountSequence).toBe(last);
  expectUnbroken(numbered(again));
});
