import { randomBytes } from 'node:crypto';
import { checksumAddress } from '../../../../src/auth/address';
import { binaryMarketIds } from '../../../../src/chain/ctf';
import type { Market } from '../../../../src/exchange/facts';
import { lots, micro, pips } from '../../../../src/exchange/units';
import { createMarkets } from '../../../../src/store/markets/markets';
import { disconnect } from '../../../../src/store/redis/connection';
import { createKeys } from '../../../../src/store/redis/keys';
import { presentOrderbook } from '../../../../src/wire/answers/book';
import { bookOf, createBookClient } from '../../../realtime/book-client';
import { signedAs } from '../../../store/fuzzing/requests';
import { PLAIN_TERMS } from '../../../support/engine-order';
import { type Listener, listen } from '../../../support/listener';
import { portOf, type Started, startScript } from '../../../support/processes';
import { startTestCluster, startTestRedis } from '../../../support/redis';
import { sleep, until } from '../../../support/waiting';
import { COUNT, openShards, type ShardWeb, startShardWeb } from './shard-web';

/** Two web processes on one Redis with four shards: clients receive the same as with one shard. */
const ZERO = `0x${'00'.repeat(20)}`;

let server: { readonly url: string; stop(): Promise<void> };
let world: Awaited<ReturnType<typeof openShards>>;
let markets: Market[];
const webs: ShardWeb[] = [];
const processes: Started[] = [];
const open: { close(): void }[] = [];

async function begin(start: () => Promise<{ readonly url: string; stop(): Promise<void> }>): Promise<void> {
  server = await start();
  world = await openShards(server.url);
  markets = [];
  for (const [k, { engine }] of world.shards.entries()) {
    const ctfIds = (oracle: string, questionId: string) =>
      binaryMarketIds({ oracle, questionId, collateral: ZERO });
    const created = createMarkets({ engine, clock: world.clock, ctfIds, defaultOracle: ZERO });
    const market = await created.create({ question: `Is this shard ${k}?` });
    await world.redis.hset(createKeys().marketShards, market.terms.id, k);
    markets.push(market);
  }
}
afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  for (const { child } of processes.splice(0)) child.kill('SIGKILL');
  await Promise.all(webs.splice(0).map((web) => web.stop()));
  for (const { durability } of world.shards) durability.stop();
  disconnect(world.redis);
  await server.stop();
});

async function web(): Promise<ShardWeb> {
  const one = await startShardWeb(server.url);
  webs.push(one);
  return one;
}
const wallet = (): string => checksumAddress(`0x${randomBytes(20).toString('hex')}`);

let serial = 0;
async function place(
  shard: number,
  maker: string,
  side: 0 | 1,
  price: number,
  size: number,
): Promise<string> {
  const orderHash = `0x${randomBytes(32).toString('hex')}`;
  const { engine } = world.shards[shard] as (typeof world.shards)[number];
  await engine.place({
    marketId: markets[shard]?.terms.id ?? '',
    orderHash,
    maker: maker.toLowerCase(),
    orderType: 'GTC',
    order: { side, outcome: 0, pricePips: pips(price), sizeLots: lots(size), budgetMicro: micro(0) },
    ...PLAIN_TERMS,
    signed: signedAs(`realtime ${serial++}`, 0),
  });
  return orderHash;
}

/** Buys Yes, and the counterparty buys No against it: one trade. Resolves with the hash of the wallet's order. */
async function trade(shard: number, owner: string, counterparty: string, price = 5_000): Promise<string> {
  const hash = await place(shard, owner, 0, price, 100);
  const { engine } = world.shards[shard] as (typeof world.shards)[number];
  await engine.place({
    marketId: markets[shard]?.terms.id ?? '',
    orderHash: `0x${randomBytes(32).toString('hex')}`,
    maker: counterparty.toLowerCase(),
    orderType: 'GTC',
    order: {
      side: 0,
      outcome: 1,
      pricePips: pips(10_000 - price),
      sizeLots: lots(100),
      budgetMicro: micro(0),
    },
    ...PLAIN_TERMS,
    signed: signedAs(`realtime ${serial++}`, 0),
  });
  return hash;
}

async function listener(at: { url: string }, token: string, auth: object = {}): Promise<Listener> {
  const one = await listen(at.url, { token, ...auth });
  open.push(one);
  return one;
}

const PRIVATE = ['order:update', 'trade:update', 'balance:update'];
const numbered = ({ told }: Listener) =>
  told.flatMap(([event, body]) => (PRIVATE.includes(event) ? [body] : []));
/** Every message continues the one before it. */
function expectUnbroken(one: Listener, from?: number): void {
  let previous = from;
  for (const { accountSequence, previousAccountSequence } of numbered(one)) {
    if (previous !== undefined) expect(previousAccountSequence).toBe(previous);
    expect(accountSequence).toBeGreaterThan(previousAccountSequence);
    previous = accountSequence;
  }
}
/** The ids of the trades that a socket received, each once. */
function tradesOf(one: Listener): string[] {
  const ids: string[] = one.all('trade:update').map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  return ids;
}
const ordersFilled = (one: Listener): Set<string> =>
  new Set(
    one.all('order:update').flatMap(({ orderHash, status }) => (status === 'FILLED' ? [orderHash] : [])),
  );

/** Trades in random shards; resolves with the hashes of the wallet's orders. */
async function tradeMuch(owner: string, count: number, pauseMs = 0): Promise<string[]> {
  const other = wallet();
  const hashes: string[] = [];
  for (let i = 0; i < count; i++) {
    hashes.push(await trade((i * 7 + (i >> 2)) % COUNT, owner, other, 4_000 + i));
    if (pauseMs > 0) await sleep(pauseMs);
  }
  return hashes;
}

async function followBooks(at: { url: string }) {
  return Promise.all(
    markets.map(async ({ terms }) => {
      const book = createBookClient(terms.conditionId);
      open.push(book);
      await book.connect(at.url);
      return book;
    }),
  );
}

/** Every book is that of its shard, with the checksum, and no update was missing or doubled. */
async function expectBooks(books: Awaited<ReturnType<typeof followBooks>>): Promise<void> {
  for (const [k, book] of books.entries()) {
    const { reads } = world.shards[k] as (typeof world.shards)[number];
    const shown = bookOf(presentOrderbook(await reads.view(markets[k]?.terms.id ?? '')));
    await until(`book ${k}`, () => book.sequence() === shown.sequence);
    expect(book.book()).toEqual(shown);
    expect(book.faults).toEqual([]);
  }
}

test.each([
  ['one Redis', startTestRedis],
  ['a cluster of three masters', startTestCluster],
])(
  'on %s a wallet that trades in four shards receives each event once, in order, under one row of numbers',
  async (_name, start) => {
    await begin(start);
    const [one, other] = [await web(), await web()];
    await until('every shard is broadcast', () => one.held() + other.held() === COUNT);
    const ann = wallet();
    const [here, there] = [await listener(one, ann), await listener(other, ann)];
    const books = [...(await followBooks(one)), ...(await followBooks(other))];
    const hashes = await tradeMuch(ann, 40);
    for (const at of [here, there]) {
      await until('every order is filled', () => hashes.every((hash) => ordersFilled(at).has(hash)));
      await until('every trade', () => at.all('trade:update').length === 40);
      const total = (
        await Promise.all(world.shards.map(({ reads }) => reads.balances(ann.toLowerCase())))
      ).reduce((sum, { freeMicro }) => sum + freeMicro, 0);
      await until('the last balance', () => {
        const { collateral } = at.all('balance:update').at(-1) ?? {};
        return collateral !== undefined && Math.round(Number(collateral.available) * 1e6) === total;
      });
      expect(tradesOf(at)).toHaveLength(40);
      expectUnbroken(at);
    }
    // The trades of one market come in its order: each is of No, below the price of the one before.
    for (const { terms } of markets) {
      const mine = here.all('trade:update').filter(({ marketId }) => marketId === terms.id);
      const prices = mine.map(({ price }) => Number(price));
      expect(prices).toEqual([...prices].sort((a, b) => b - a));
    }
    await expectBooks(books.slice(0, COUNT));
    await expectBooks(books.slice(COUNT));
  },
);

test('a socket that resumes after its last number, at the other process, misses nothing of any shard', async () => {
  await begin(startTestRedis);
  const [one, other] = [await web(), await web()];
  const ann = wallet();
  const first = await listener(one, ann, { lastAccountSequence: null });
  const before = await tradeMuch(ann, 8);
  await until('the trades', () => first.all('trade:update').length === 8);
  await until('the orders', () => before.every((hash) => ordersFilled(first).has(hash)));
  await sleep(100);
  first.close();
  const local = numbered(first).at(-1)?.accountSequence;
  const missed = await tradeMuch(ann, 12);
  const epoch = other.durability.current()?.epoch;
  const second = await listener(other, ann, { lastAccountSequence: local, epoch });
  expect(await second.heard('account:resumed')).toEqual({ accountSequence: local, resumed: true });
  await until('the orders', () => missed.every((hash) => ordersFilled(second).has(hash)));
  await until('the trades', () => second.all('trade:update').length === 12);
  expect(tradesOf(second).filter((id) => tradesOf(first).includes(id))).toEqual([]);
  expectUnbroken(second, local);
});

test('leases spread over the processes, and after kill -9 of one the other goes on without a loss', async () => {
  await begin(startTestRedis);
  const killed = startScript("require('./test/extensions/shards/realtime/shard-web.ts').main()", {
    REDIS_URL: server.url,
  });
  processes.push(killed);
  await portOf(killed);
  const heldThere = (): number => Number(/held (\d)\n$/.exec(killed.stdout())?.[1] ?? 0);
  await until('the first process has all leases', () => heldThere() === COUNT);
  const survivor = await web();
  await until('it has let go of half of them', () => heldThere() === 2 && survivor.held() === 2, {
    patienceMs: 60_000,
  });
  const ann = wallet();
  const [told, books] = [await listener(survivor, ann), await followBooks(survivor)];
  const trading = tradeMuch(ann, 120, 20);
  await until('some trades', () => told.all('trade:update').length >= 20);
  killed.child.kill('SIGKILL');
  const hashes = await trading;
  await until('the survivor has every lease', () => survivor.held() === COUNT);
  await until('every order is filled', () => hashes.every((hash) => ordersFilled(told).has(hash)));
  await until('every trade', () => told.all('trade:update').length === 120);
  expect(tradesOf(told)).toHaveLength(120);
  expectUnbroken(told);
  await expectBooks(books);
});

test('an epoch that changes in one shard is another epoch for clients, and no number of the former is known', async () => {
  await begin(startTestRedis);
  const one = await web();
  const ann = wallet();
  const first = await listener(one, ann, { lastAccountSequence: null });
  await tradeMuch(ann, 4);
  await until('the trades', () => first.all('trade:update').length === 4);
  const before = one.durability.current()?.epoch;
  const { epoch: shown } = await first.heard('exchange:update');
  expect(shown).toBe(before);
  await world.redis.hset(createKeys(2).epoch, 'name', 'another copy');
  const { epoch } = await first.heard('epoch');
  expect(epoch).not.toBe(before);
  expect((await first.heard('exchange:update', 2)).epoch).toBe(epoch);
  const local = numbered(first).at(-1)?.accountSequence;
  const stale = await listener(one, ann, { lastAccountSequence: local, epoch: before });
  expect(await stale.heard('account:resumed')).toMatchObject({ resumed: false });
  const fresh = await listener(one, ann, { lastAccountSequence: local, epoch });
  expect(await fresh.heard('account:resumed')).toMatchObject({ resumed: true });
});

test('cancelOnDisconnect cancels the orders of a wallet in every shard, and no others', async () => {
  await begin(startTestRedis);
  const [one, other] = [await web(), await web()];
  const [ann, bob] = [wallet(), wallet()];
  const socket = await listener(one, ann, { cancelOnDisconnect: true });
  const watching = await listener(other, ann);
  const mine = await Promise.all(markets.map((_, shard) => place(shard, ann, 0, 3_000, 100)));
  const kept = await place(1, bob, 0, 3_000, 100);
  socket.close();
  const cancelled = () =>
    new Map(
      watching.all('order:update').map(({ orderHash, status, reason }) => [orderHash, { status, reason }]),
    );
  await until(
    'every order is cancelled',
    () => mine.every((hash) => cancelled().get(hash)?.status === 'CANCELLED'),
    {
      patienceMs: 30_000,
    },
  );
  const records = await world.shards[1]?.reads.records([kept]);
  expect(records?.get(kept)?.status).toBe('OPEN');
  expectUnbroken(watching);
});
