import { createStore } from '../../../src/app/store';
import { loadConfig } from '../../../src/config/load';
import { formatMicro } from '../../../src/exchange/units';
import { rankWallets } from '../../../src/extensions/portfolio/jobs/ranking';
import { openRanking } from '../../../src/extensions/portfolio/store/open';
import { createLogger } from '../../../src/log';
import { createKeys } from '../../../src/store/redis/keys';
import { createShell } from '../../cli/shell';
import type { Answer } from '../../support/client';
import { createRandom } from '../../support/random';
import { ADMIN_TOKEN } from '../../support/settings';
import { chooseSeed } from '../../support/telling';
import {
  createTrader,
  domainOf,
  type Limit,
  type OpenMarket,
  openMarket,
  type Trader,
} from '../../support/trader';
import { limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

const TRADERS = 6;
const STEPS = 120;
const FEE_BPS = 150;
const PIPS = [3_000, 4_500, 5_000, 5_500, 7_000] as const;

interface Holder {
  readonly address: string | null;
  readonly username: string | null;
  readonly size: string;
}

/** What each wallet says that it holds, in the order of the holders. */
async function balancesOf(traders: readonly Trader[], market: OpenMarket, outcome: 0 | 1) {
  const held = await Promise.all(
    traders.map(async ({ address, get }) => {
      const { body } = await get('/me/balances');
      const token = body.tokens.find(
        (one: { marketId: string; outcomeIndex: number }) =>
          one.marketId === market.id && one.outcomeIndex === outcome,
      );
      return `${address} ${token?.total ?? '0'}`;
    }),
  );
  return held.filter((text) => !text.endsWith(' 0')).sort();
}

describe.each([1, 2])('the wallets of a market, with %i shards', (shards) => {
  let exchange: WebReplicas;
  let markets: OpenMarket[];
  let traders: Trader[];
  let quiet: OpenMarket;

  beforeAll(async () => {
    const env = shards === 1 ? {} : { SHARDS: `${shards}` };
    exchange = await startWebReplicas({ replicas: 0, env });
    const { client } = await exchange.replica();
    const domain = await domainOf(client);
    markets = [];
    // The second market is in the last shard, and its fees take parts of shares.
    for (const [i, feeRateBps] of [0, FEE_BPS].entries())
      markets.push(
        await openMarket(client, ADMIN_TOKEN, {
          feeRateBps,
          ...(shards > 1 ? { shard: i } : {}),
        }),
      );
    quiet = await openMarket(client, ADMIN_TOKEN, shards > 1 ? { shard: 1 } : {});
    traders = Array.from({ length: TRADERS }, () => createTrader(client, domain));
  });
  afterAll(() => exchange?.stop());

  const submit = (trader: Trader, market: OpenMarket, order: Limit): Promise<Answer> =>
    trader.submit(market, order, { more: { feeRateBps: market === markets[1] ? `${FEE_BPS}` : '0' } });
  const read = (path: string): Promise<Answer> => (traders[0] as Trader).get(path);
  const holdersOf = (market: OpenMarket, outcome = 0): Promise<Answer> =>
    read(`/markets/${market.slug}/holders?outcomeIndex=${outcome}`);
  const linesOf = ({ body }: Answer): string[] =>
    body.data.map(({ address, size }: Holder) => `${address} ${size}`).sort();

  async function expectEqual(): Promise<void> {
    for (const market of markets) {
      for (const outcome of [0, 1] as const) {
        const answer = await holdersOf(market, outcome);
        expect(answer).toMatchObject({ status: 200, body: { data: expect.any(Array) } });
        const balances = await balancesOf(traders, market, outcome);
        expect(linesOf(answer)).toEqual(balances);
        const sizes = answer.body.data.map(({ size }: Holder) => Number(size));
        expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
        expect(answer.body).toMatchObject({
          marketId: market.id,
          outcomeIndex: outcome,
          count: balances.length,
        });
      }
    }
  }

  test('after random trading, splits and merges the holders equal the balances', async () => {
    const random = createRandom(chooseSeed('holders'));
    for (let step = 0; step < STEPS; step++) {
      const trader = random.pick(traders);
      const market = random.pick(markets);
      const [kind, size] = [random.int(0, 9), random.int(1, 9)];
      if (kind === 0) await trader.post(`/markets/${market.id}/split`, { size: `${size}.5` });
      else if (kind === 1) await trader.post(`/markets/${market.id}/merge`, { size: `${size}` });
      else
        await submit(
          trader,
          market,
          limit(random.pick(['BUY', 'SELL']), random.pick([0, 1]), random.pick(PIPS), size * 100),
        );
      if (step % 40 === 39) await expectEqual();
    }
    const counts = await Promise.all(markets.map(async (market) => (await holdersOf(market)).body.count));
    for (const count of counts) expect(count).toBeGreaterThan(2);
    for (const { id } of markets)
      expect((await read(`/markets/${id}/trades`)).body.data.length).toBeGreaterThan(5);
  });

  test('data of an older version has holders once the journals were rebuilt, and the audit compares them', async () => {
    const { redis } = exchange.store;
    const all = Array.from({ length: shards }, (_, shard) => createKeys(shard));
    const [first] = markets as [OpenMarket];
    const shell = createShell(exchange.redis.url, shards === 1 ? {} : { SHARDS: `${shards}` });
    const [wallet = ''] = linesOf(await holdersOf(first));
    const member = Buffer.from(wallet.slice(2, 42), 'hex');
    await redis.zadd(createKeys(0).holders(first.id, 0), 1, member);
    expect(JSON.stringify(await shell.json('audit'))).toContain('among the holders');
    for (const keys of all) {
      await redis.hdel(keys.sums, 'holders');
      for (const { id } of markets) await redis.del(keys.holders(id, 0), keys.holders(id, 1));
    }
    expect(await holdersOf(first)).toMatchObject({
      status: 503,
      body: { detail: expect.stringContaining('exchange journal rebuild') },
    });
    expect((await shell.json('journal', 'rebuild')).repaired).toEqual([]);
    await expectEqual();
  });

  test('holders and traders have names, and one that hides itself has neither name nor address', async () => {
    const market = quiet;
    const [alice, bob] = traders as [Trader, Trader];
    await alice.send('PATCH', '/me/profile', { username: `alice_${shards}` });
    await bob.post(`/markets/${market.id}/split`, { size: '500' });
    expect(await submit(bob, market, limit('SELL', 0, 9_900, 700))).toMatchObject({ status: 200 });
    const taken = await submit(alice, market, limit('BUY', 0, 9_900, 700));
    expect(taken).toMatchObject({ status: 200, body: { status: 'FILLED' } });
    const latest = async () => (await read(`/markets/${market.id}/activity?limit=1`)).body.data[0];
    const { data } = (await read(`/markets/${market.id}/trades?limit=1`)).body;
    const named = {
      alice: { address: alice.address, username: `alice_${shards}` },
      bob: { address: bob.address, username: null },
    };
    expect(await latest()).toEqual({ ...data[0], taker: named.alice, maker: named.bob });
    const largest = (await holdersOf(market, 1)).body.data[0];
    expect(largest).toMatchObject(named.bob);
    const hidden = { address: null, username: null };
    expect((await bob.send('PATCH', '/me/profile', { hidden: true })).body.hidden).toBe(true);
    expect((await latest()).maker).toEqual(hidden);
    expect((await holdersOf(market, 1)).body.data[0]).toEqual({ ...hidden, size: largest.size });
    await bob.send('PATCH', '/me/profile', { hidden: false });
    expect((await latest()).maker).toEqual(named.bob);
    // Others read what a wallet holds and gains while it lets them, and exactly what it reads itself.
    const views = ['positions?limit=100', 'portfolio?timeframe=1w'];
    const shown = () => Promise.all(views.map((view) => read(`/profiles/${bob.address}/${view}`)));
    const refused = { status: 403, body: { code: 'FORBIDDEN' } };
    expect(await shown()).toMatchObject([refused, refused]);
    // The answer tells its own wallet, too, where to read instead.
    for (const view of ['positions', 'portfolio']) {
      const { detail } = (await bob.get(`/profiles/${bob.address}/${view}`)).body;
      expect(detail).toContain(`GET /me/${view}`);
    }
    await bob.send('PATCH', '/me/profile', { portfolioPublic: true });
    const [positions, portfolio] = await shown();
    expect(positions?.body).toEqual((await bob.get('/me/positions?limit=100')).body);
    expect(positions?.body.data.length).toBeGreaterThan(0);
    const { history, ...sums } = (await bob.get('/me/portfolio?timeframe=1w')).body;
    expect(portfolio).toMatchObject({ status: 200, body: sums });
    expect((await read('/profiles/0x12/positions')).body.code).toBe('INVALID_ADDRESS');
    await bob.send('PATCH', '/me/profile', { portfolioPublic: null });
    expect(await shown()).toMatchObject([refused, refused]);
    for (const lots of [100, 200, 300]) {
      await submit(bob, market, limit('SELL', 0, 9_900, lots));
      await submit(bob, market, limit('SELL', 0, 9_900, lots));
      await submit(alice, market, limit('BUY', 0, 9_900, 2 * lots));
    }
    const pages = [];
    let cursor: string | null = null;
    do {
      const at: string = cursor === null ? '' : `&cursor=${cursor}`;
      const { body } = await read(`/markets/${market.id}/activity?limit=3${at}`);
      pages.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
    } while (cursor !== null);
    const trades = (await read(`/markets/${market.id}/trades?limit=500`)).body.data;
    expect(trades.length).toBe(7);
    expect(pages).toEqual(trades.map(({ id }: { id: string }) => id));
    expect(await read(`/markets/${market.id}/holders?outcomeIndex=2`)).toMatchObject({ status: 400 });
    expect(await read('/markets/nothing/activity')).toMatchObject({ status: 404 });
  });

  test('the leaderboard has the gain and the volume of each wallet that agrees, and who takes that back is gone', async () => {
    const config = loadConfig({ ...exchange.env, LOG_LEVEL: 'silent' });
    const store = await createStore(config, createLogger(config, 'worker'));
    await store.clock.measure();
    const rank = (): Promise<void> => rankWallets(openRanking(store)).run();
    try {
      await Promise.all(
        traders.map((trader) => trader.send('PATCH', '/me/profile', { portfolioPublic: true })),
      );
      await rank();
      const volumeOf = ({ type, changes }: { type: string; changes: { collateral: string } }): number =>
        type === 'TRADE' ? Math.round(Math.abs(Number(changes.collateral)) * 1e6) : 0;
      // All of them began this week, so their gain of the week is all their gain.
      const expected = await Promise.all(
        traders.map(async ({ address, get }) => {
          const { pnl } = (await get('/me/portfolio')).body;
          const lines = (await get('/me/activity?limit=200')).body;
          expect(lines.nextCursor).toBeNull();
          const volume = lines.data.map(volumeOf).reduce((sum: number, one: number) => sum + one, 0);
          return { address, pnl: pnl.total, volume: formatMicro(volume) };
        }),
      );
      expected.sort((a, b) => Number(b.pnl) - Number(a.pnl));
      const { startsAt, endsAt, asOf, data } = (await read('/leaderboard')).body;
      expect(data).toMatchObject(expected.map((one, i) => ({ rank: i + 1, ...one })));
      expect(new Set(expected.map(({ pnl }) => pnl)).size).toBe(TRADERS);
      expect(data.map(({ username }: Holder) => username)).toContain(`alice_${shards}`);
      expect(new Date(startsAt).getUTCDay()).toBe(1);
      expect(startsAt).toMatch(/T00:00:00.000Z$/);
      expect(Date.parse(endsAt) - Date.parse(startsAt)).toBe(7 * 86_400_000);
      expect([startsAt <= asOf, asOf < endsAt]).toEqual([true, true]);
      expect((await read('/leaderboard?limit=2')).body.data).toEqual(data.slice(0, 2));
      expect(await read('/leaderboard?limit=0')).toMatchObject({
        status: 400,
        body: { code: 'INVALID_LIMIT' },
      });

      const [first, second, ...others] = data.map(({ address }: Holder) => address);
      const of = (address: string) => traders.find((trader) => trader.address === address) as Trader;
      const shown = async () => (await read('/leaderboard')).body.data.map(({ address }: Holder) => address);
      await of(first).send('PATCH', '/me/profile', { portfolioPublic: false });
      expect(await shown()).toEqual([second, ...others]);
      await of(second).send('PATCH', '/me/profile', { hidden: true });
      expect(await shown()).toEqual(others);
      await rank();
      await of(second).send('PATCH', '/me/profile', { hidden: false });
      expect(await shown()).toEqual(others);
      await rank();
      expect(await shown()).toEqual([second, ...others]);
    } finally {
      store.close();
    }
  });
});
