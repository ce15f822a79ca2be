import type { MarketStatus } from '../../../../src/exchange/market';
import { micro } from '../../../../src/exchange/units';
import { createPresence } from '../../../../src/store/people/presence';
import { answerOf, useTwins } from './twins';
import { openShardWorld, walletWithHome } from './world';

/** The commands of operators and of the worker, on four shards and on one: the same stories have the same answers. */
const twins = useTwins();
const { same, buy } = twins;
const [alice = '', bob = ''] = [0, 1].map((home) => walletWithHome(home, 4));

test('collateral from the faucet, once an hour, and sets', async () => {
  await same(9, async ({ engine, ids }) => {
    const at = (market: number): string => ids[market] ?? '';
    const answers: unknown[] = [];
    const commands = [
      () => engine.credit(bob, micro(50_000_000)),
      () => engine.convert(at(3), bob, micro(150_000_000), 'split'),
      () => engine.convert(at(3), bob, micro(150_000_000), 'split'),
      () => engine.convert(at(0), bob, micro(1), 'more'),
      () => engine.convert(at(3), bob, micro(-20_000_000), 'merge'),
      () => engine.convert(at(0), bob, micro(20_000_000), 'elsewhere'),
      () => engine.convert(at(1), bob, micro(-1), 'none'),
      () => engine.convert('nowhere0', bob, micro(1), 'nowhere'),
      () => engine.credit(bob, micro(50_000_000)).catch(({ code }) => code),
    ];
    for (const command of commands) answers.push(await answerOf(command()));
    return answers;
  });
});

test('the life of a market', async () => {
  const orders = [0, 1].flatMap((market) => [
    buy(market, alice, 6_000, 10),
    twins.order(market, bob, 0, 1, 4_000, 600),
  ]);
  const late = buy(1, alice, 5_000, 1);
  await same(15, async ({ engine, ids }) => {
    for (const order of orders) await engine.place(order);
    const [first = '', second = ''] = ids;
    const open: MarketStatus[] = ['OPEN', 'PAUSED'];
    const commands = [
      () => engine.closeWhenDue(first),
      () => engine.moveMarket(first, 'PAUSED', ['OPEN']),
      () => engine.moveMarket(first, 'PAUSED', ['OPEN']),
      () => engine.moveMarket('nowhere0', 'PAUSED', ['OPEN']),
      () => engine.moveMarket(first, 'CLOSED', open),
      () => engine.moveMarket(second, 'CLOSED', open),
      () => engine.place(late),
      () => engine.resolveMarket(first, 0, 'https://example.com'),
      () => engine.resolveMarket(first, 1),
      () => engine.payHolders(first),
      () => engine.clearBook(first),
      () => engine.payHolders(first),
      () => engine.resolveMarket(second, null),
      () => engine.clearBook(second, 1),
      () => engine.payHolders(second),
    ];
    const answers: unknown[] = [];
    for (const command of commands) answers.push(await answerOf(command()));
    return answers;
  });
});

test('expired orders', async () => {
  const soon = Math.floor(Date.now() / 1_000) + 4;
  const orders = [0, 1, 2, 3].map((market) =>
    buy(market, alice, 4_000, 5, { expirationSec: soon + market * 1_000 }),
  );
  const more = [1, 2].map((market) => buy(market, alice, 4_000, 5, { expirationSec: soon }));
  await same(1, async ({ engine }) => {
    for (const order of [...orders, ...more]) await engine.place(order);
    let expired = 0;
    for (const until = Date.now() + 20_000; expired < 3 && Date.now() < until; )
      expired += (await engine.expire()).expired;
    return [expired];
  });
});

test('a wallet that is gone loses its orders in every shard, under the lease of each', async () => {
  const orders = [0, 1, 2, 3].map((market) => buy(market, alice, 4_000, 5));
  await same(5, async ({ engine, redis, shards, run }) => {
    for (const order of orders) await engine.place(order);
    const presences = shards.map((keys) => createPresence({ run, keys }));
    const absent = async (): Promise<string[]> => {
      const lists = await Promise.all(presences.map((presence) => presence.absent('lease', 60_000)));
      return [...new Set(lists.flat())];
    };
    for (const { lease } of shards) await redis.set(lease, 'lease');
    await Promise.all(presences.map((presence) => presence.mark([alice], 60_000)));
    const here = [await absent(), await answerOf(engine.cancelAbsent(alice, 'lease'))];
    // The same moment in all shards, so that the wallet is gone from all as soon as it is from one.
    const goneAtMs = Date.now() + 1;
    for (const { absences } of shards)
      await redis.zadd(absences, goneAtMs, Buffer.from(alice.slice(2), 'hex'));
    const gone = async (): Promise<string[]> => {
      for (const until = Date.now() + 5_000; Date.now() < until; ) {
        const found = await absent();
        if (found.length > 0) return found;
      }
      return [];
    };
    const found = await gone();
    const stranger = await answerOf(engine.cancelAbsent(alice, 'another'));
    const cancelled = await answerOf(engine.cancelAbsent(alice, 'lease'));
    expect(await absent()).toEqual([]);
    return [...here, found, stranger, cancelled];
  });
});

test('two operators who set modes at once leave all shards with the mode of the first', async () => {
  const [w, other] = [
    await openShardWorld({ urls: [twins.url()], count: 4 }),
    await openShardWorld({ urls: [twins.url()], count: 4, isOpen: true }),
  ];
  for (let round = 0; round < 20; round++) {
    await Promise.all([w.exchange.setMode('HALTED'), other.exchange.setMode('NORMAL', `round ${round}`)]);
    const modes = await Promise.all(w.shards.map(async ({ mode, notice }) => w.redis.mget(mode, notice)));
    expect(modes).toEqual(Array(4).fill(modes[0]));
  }
  w.stop();
  other.stop();
});

test('the mode is that of the first shard, and is brought to a shard that differs', async () => {
  const w = await openShardWorld({ urls: [twins.url()], count: 4 });
  const modes = () =>
    Promise.all(w.shards.map(async ({ mode, notice }) => (await w.redis.mget(mode, notice)).join()));
  await w.exchange.setMode('CANCEL_ONLY', 'tonight');
  expect(await modes()).toEqual(Array(4).fill('1,1tonight'));
  expect(await w.exchange.enforceMode()).toEqual({ changed: [], silent: [] });
  await expect(w.reserve(2, alice, 1)).rejects.toMatchObject({ code: 'CANCEL_ONLY' });
  // As a shard that was away while the mode was set.
  await w.exchange.parts[2]?.setMode('NORMAL');
  await w.exchange.parts[3]?.setMode('CANCEL_ONLY', 'another message');
  expect(await w.exchange.enforceMode()).toEqual({ changed: [2, 3], silent: [] });
  expect(await modes()).toEqual(Array(4).fill('1,1tonight'));
  await w.exchange.setMode('HALTED');
  expect(await modes()).toEqual(Array(4).fill('2,'));
  // Collateral does not leave a shard now, and what is on its way arrives.
  const home = { from: 0, to: 1, wallet: Buffer.from(alice.slice(2), 'hex'), needMicro: 1, token: '' };
  await expect(w.channels.send({ ...home, home: { grantMicro: 1 } })).rejects.toMatchObject({
    code: 'HALTED',
  });
  expect(await w.channels.drain(0, 1)).toBe(true);
  await w.exchange.setMode('NORMAL');
  expect(await modes()).toEqual(Array(4).fill('0,'));
  w.stop();
});
