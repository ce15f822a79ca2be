import { addressBytes } from '../../src/store/records/order';
import { type Listener, listen } from '../support/listener';
import { openLane } from '../support/order-lane';
import { sizeOf } from '../support/sample';
import { createTrader, type Domain, domainOf, type OpenMarket, type Trader } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** The numbers of a wallet's private events, and how a socket resumes after one. */
/** A log keeps 1,024 events; the short form makes fewer, and shortens the log itself. */
const ORDERS = sizeOf('RESUMED_ORDERS', 60, 500);
const MORE = sizeOf('RESUMED_ORDERS_MORE', 20, 120);
const LOG_KEPT = 1_024;
const PRIVATE = ['order:update', 'trade:update', 'balance:update'];

interface Numbered {
  readonly accountSequence: number;
  readonly previousAccountSequence: number;
}

let exchange: WebReplicas;
let replicas: [Replica, Replica];
let market: OpenMarket;
let domain: Domain;
const open: Listener[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true, env: { RATE_LIMIT: 'off' } });
  replicas = [await exchange.replica(), await exchange.replica()];
  domain = await domainOf(replicas[0].client);
});
beforeEach(async () => {
  market = await exchange.market(replicas[0]);
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => exchange.stop());

const trader = (): Trader => createTrader(replicas[0].client, domain);
const bid = (pips: number) => ({ side: 'BUY', outcome: 0, pips, lots: 100 }) as const;

async function listener(owner: Trader, at: 0 | 1, auth: Record<string, unknown> = {}): Promise<Listener> {
  const one = await listen(replicas[at].url, { token: await owner.token(), ...auth });
  open.push(one);
  return one;
}
const numbered = ({ told }: Listener): Numbered[] =>
  told.flatMap(([event, body]) => (PRIVATE.includes(event) ? [body] : []));
const hashes = (one: Listener): string[] => one.all('order:update').map(({ orderHash }) => orderHash);
const epochNow = async (): Promise<string> => (await replicas[0].client.get('/config')).body.epoch;

function expectUnbroken(events: readonly Numbered[]): void {
  for (const [i, { accountSequence, previousAccountSequence }] of events.entries()) {
    expect(accountSequence).toBeGreaterThan(previousAccountSequence);
    if (i > 0) expect(previousAccountSequence).toBe(events[i - 1]?.accountSequence);
  }
}

test('every private event has its number and the number before it, and replicas agree on the numbers', async () => {
  const alice = trader();
  const [here, there] = [await listener(alice, 0), await listener(alice, 1)];
  for (const [i, pips] of [5_000, 4_900, 4_800].entries()) {
    await alice.submit(market, bid(pips));
    await Promise.all([here, there].map((one) => one.heard('balance:update', i + 1)));
  }
  await until('the last event', () => numbered(here).length === numbered(there).length);
  expect(numbered(here)).toHaveLength(6);
  expect(numbered(here)).toEqual(numbered(there));
  expectUnbroken(numbered(here));
});

test('a socket that resumes after its last number misses no event and receives none twice, at another replica', async () => {
  const [alice, bob] = [trader(), trader()];
  const first = await listener(alice, 0);
  const { body: seen } = await alice.submit(market, bid(5_000));
  await first.heard('balance:update');
  const last = numbered(first).at(-1)?.accountSequence ?? 0;
  first.close();

  const { body: missed } = await alice.submit(market, bid(4_900));
  await bob.submit(market, { side: 'BUY', outcome: 1, pips: 5_000, lots: 40 });
  const again = await listener(alice, 1, { lastAccountSequence: last, epoch: await epochNow() });
  const { body: later } = await alice.submit(market, bid(4_800));
  await until('the last order', () => hashes(again).includes(later.orderHash));
  await until('the trade', () => again.all('trade:update').length === 1);
  expect(again.told[0]).toEqual(['account:resumed', { accountSequence: last, resumed: true }]);
  expect(numbered(again)[0]?.previousAccountSequence).toBe(last);
  expectUnbroken(numbered(again));
  expect(new Set(hashes(again))).toEqual(new Set([seen.orderHash, missed.orderHash, later.orderHash]));
  // The first order comes again because it was filled meanwhile, with that fill.
  const filled = again.all('order:update').find(({ orderHash }) => orderHash === seen.orderHash);
  expect(filled).toMatchObject({ status: 'PARTIALLY_FILLED', fillCount: 1, fills: [{ size: '0.4' }] });
});

test(`a socket resumes over ${2 * ORDERS} events, and learns when the log does not reach back far enough`, async () => {
  const alice = trader();
  const first = await listener(alice, 0);
  await alice.submit(market, bid(5_000));
  await first.heard('balance:update');
  const last = numbered(first).at(-1)?.accountSequence ?? 0;
  first.close();
  // Each command is two events: an order and a balance.
  const rounds = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 20) {
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          await alice.submit(market, bid(1_000));
        }),
      );
    }
  };
  await rounds(ORDERS);
  const again = await listener(alice, 1, { lastAccountSequence: last });
  await until('all orders', () => new Set(hashes(again)).size === ORDERS, { patienceMs: 60_000 });
  expect(again.told[0]?.[1]).toEqual({ accountSequence: last, resumed: true });
  expectUnbroken(numbered(again));
  again.close();

  await rounds(MORE);
  const { redis, keys } = exchange.store;
  if (2 * ORDERS < LOG_KEPT) await redis.xtrim(keys.accountLog(addressBytes(alice.address)), 'MAXLEN', 10);
  const late = await listener(alice, 1, { lastAccountSequence: last });
  const told = await late.heard('account:resumed');
  expect(told).toEqual({ accountSequence: expect.any(Number), resumed: false });
  expect(told.accountSequence).toBeGreaterThan(last);
}, 240_000);

test('a client may request its position before the first event, and an invalid number is refused', async () => {
  const alice = trader();
  const one = await listener(alice, 0, { lastAccountSequence: null });
  const { accountSequence, resumed } = await one.heard('account:resumed');
  expect(resumed).toBe(false);
  await alice.submit(market, bid(5_000));
  await one.heard('balance:update');
  expect(numbered(one)[0]?.previousAccountSequence).toBe(accountSequence);
  const token = await alice.token();
  for (const wrong of [-1, 1.5, 'x', {}]) {
    await expect(listen(replicas[0].url, { token, lastAccountSequence: wrong })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  }
  await expect(listen(replicas[0].url, { lastAccountSequence: 5 })).rejects.toMatchObject({
    code: 'UNAUTHORIZED',
  });
});

test('a socket without events of its wallet receives none, while it sends orders and follows a market', async () => {
  const alice = trader();
  const other = await listener(alice, 0);
  const auth = { token: await alice.token(), accountEvents: false };
  const lane = await openLane(replicas[0].url, auth.token, { auth });
  open.push(lane.listener);
  expect(await lane.listener.ask('subscribe', market.conditionId)).toMatchObject({ ok: true });
  const order = await alice.order(market, bid(5_000));
  const answer = await lane.send('order:submit', JSON.stringify({ marketId: market.id, order }));
  expect([answer.status, answer.body.status]).toEqual([200, 'OPEN']);
  await other.heard('balance:update');
  await lane.listener.heard('orderbook:update');
  const { ok } = await lane.listener.ask('renew', { token: await alice.token() });
  expect(ok).toBe(true);
  // Longer than such messages take.
  await sleep(500);
  const names = lane.listener.told.map(([event]) => event);
  expect(names.filter((name) => PRIVATE.includes(name) || name.startsWith('account:'))).toEqual([]);
});

test('a socket that stays notices when events were never logged: the next number does not continue the last', async () => {
  const alice = trader();
  const one = await listener(alice, 0);
  await alice.submit(market, bid(5_000));
  await one.heard('balance:update');
  const last = numbered(one).at(-1)?.accountSequence ?? 0;
  // As log_events notes it when the outbox was trimmed before it was logged; numbers are microseconds.
  await exchange.store.redis.hset('{x0}:pr', 'gap', last + 500);
  await sleep(5);
  const { body: later } = await alice.submit(market, bid(4_900));
  await until('the later order', () => hashes(one).includes(later.orderHash));
  const after = numbered(one).find(({ accountSequence }) => accountSequence > last);
  expect(after?.previousAccountSequence).toBe(last + 499);
  await exchange.store.redis.hdel('{x0}:pr', 'gap');
});

test('a number of another epoch is not resumed', async () => {
  const alice = trader();
  const one = await listener(alice, 0, { lastAccountSequence: null });
  const { accountSequence } = await one.heard('account:resumed');
  const other = await listener(alice, 0, { lastAccountSequence: accountSequence, epoch: '0'.repeat(16) });
  expect(await other.heard('account:resumed')).toMatchObject({ resumed: false });
});

test('the numbers continue when the process that assigns them has ended', async () => {
  const third = await exchange.replica();
  const alice = createTrader(third.client, domain);
  const one = await listen(third.url, { token: await alice.token() });
  open.push(one);
  await alice.submit(market, bid(5_000));
  await one.heard('balance:update');
  // Whichever of the first two leads, the third remains.
  for (const replica of replicas) await replica.web.stop(0);
  await alice.submit(market, bid(4_900));
  await one.heard('balance:update', 2);
  expectUnbroken(numbered(one));
});
