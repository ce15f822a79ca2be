import { chainScale } from '../../../src/exchange/order';
import type { Archive } from '../../../src/extensions/archive/archive';
import { startArchiving } from '../../../src/extensions/archive/jobs/archiving';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createForgetting, Fenced, type Forgetting } from '../../../src/extensions/archive/store/forgetting';
import type { Leaving } from '../../../src/extensions/archive/store/leaving';
import { type Found, openSource, type Source } from '../../../src/extensions/archive/store/source';
import { verifyArchive } from '../../../src/extensions/archive/verify/verify';
import { createSettle } from '../../../src/jobs/settle';
import { createCandleWriter } from '../../../src/store/candles/writer';
import { decodeMarket } from '../../../src/store/records/market';
import { hashBytes } from '../../../src/store/records/order';
import { isBefore, NO_ENTRY } from '../../../src/store/redis/entry-id';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements } from '../../../src/store/settlement/settlements';
import { createAudit } from '../../support/audit';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { READERS } from '../../support/readers';
import { until } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';
import { openTrading, settled, type Trading } from './trading';

/** The interface of an exchange whose orders leave for PostgreSQL, against the same exchange before they left. */
const LIMIT_MS = 240_000;
const TOKEN = 'the test';
const LEASE_MS = 600_000;
/** Orders of one step of leaving. */
const STEP = 8;
const MATCHES_STEP = 3;

describeWithPostgres('an exchange with an archive', () => {
  let postgres: TestPostgres;
  let exchange: WebReplicas;
  let archive: Archive;
  let trading: Trading;

  beforeAll(async () => {
    postgres = await startTestPostgres();
    exchange = await startWebReplicas({ env: { ARCHIVE_URL: postgres.url }, durable: true });
    archive = createArchive({ url: postgres.url });
    trading = await openTrading(exchange);
  }, LIMIT_MS);
  afterAll(async () => {
    await archive?.close();
    await exchange?.stop();
    await postgres?.stop();
  });

  function forgettingOf(own: Archive): Forgetting {
    const { redis, run, keys } = exchange.store;
    return createForgetting({ redis, run, keys, archive: own, keepMs: 0 });
  }
  async function sourceOf(): Promise<Source> {
    const { redis, keys } = exchange.store;
    const now = async (): Promise<number> => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    };
    let nowMs = await now();
    const source = await openSource({ redis, keys, readers: READERS, now: () => nowMs, keepMs: 0 });
    return {
      ...source,
      async next() {
        nowMs = await now();
        return source.next();
      },
    };
  }
  const here = (): Promise<number> => exchange.store.redis.hlen(exchange.store.keys.orders);
  const checkAudit = async (): Promise<void> => {
    const { redis, run, keys } = exchange.store;
    expect((await createAudit({ redis, run, keys, scale: chainScale(18) })()).differences).toEqual([]);
  };
  const verified = async (): Promise<unknown[]> => {
    const { orders, problems } = await verifyArchive({ ...exchange.store, archive, scale: chainScale(18) });
    return [orders, problems];
  };
  /** The test stands for the worker, which settles, and asks for the journal. */
  async function settle(): Promise<void> {
    const { redis, keys } = exchange.store;
    const [last] = await redis.xrevrange(keys.outbox, '+', '-', 'COUNT', 1);
    await redis.hset(keys.readers, 'settlement', last?.[0] ?? '0-0');
    await trading.bob.get('/me/trades');
  }
  /** Every reader of the outbox is at its end. */
  async function isRead(): Promise<boolean> {
    await settle();
    const { redis, keys } = exchange.store;
    const readers = await redis.hmget(keys.readers, ...READERS);
    const [last] = await redis.xrevrange(keys.outbox, '+', '-', 'COUNT', 1);
    return readers.every((at) => at !== null && !isBefore(at, last?.[0] ?? NO_ENTRY));
  }
  /** The orders that the outbox names once its readers are through. */
  async function ended(): Promise<Found> {
    let found: Found | null = null;
    await until('the outbox names an order that is over', async () => {
      await settle();
      found = await (await sourceOf()).next();
      return found.leaving.orders.length > 0;
    });
    return found as unknown as Found;
  }

  /** Settles and counts every match, so that it may leave. */
  async function finish(): Promise<void> {
    const { redis, run, keys } = exchange.store;
    const settlements = createSettlements({ redis, run, keys });
    const matches = createMatches({ redis, run, keys, settlements });
    const { id } = trading.market;
    const termsOf = async () => decodeMarket((await redis.hgetBuffer(keys.markets, id)) as Buffer).terms;
    const now = { nowMs: Date.now(), graceMs: 0, patienceMs: 0, most: 100 };
    const failures = await createSettle({ matches, settlements, termsOf, scale: chainScale(18) })(
      await matches.unsettled(id, now),
    );
    expect([failures, await matches.unsettled(id, now)]).toEqual([[], []]);
    const candles = createCandleWriter({ redis, run, keys });
    while (await candles.extend(id));
  }

  /** Everything that may leave at once, in parts of a few matches, orders or journals. */
  function partsOf({ markets, orders, journals }: Leaving): Partial<Leaving>[] {
    const some = <T>(list: readonly T[], most: number): T[][] =>
      Array.from({ length: Math.ceil(list.length / most) }, (_, i) => list.slice(i * most, (i + 1) * most));
    return [
      ...markets.flatMap(({ marketId, matches }) =>
        some(matches, MATCHES_STEP).map((part) => ({ markets: [{ marketId, matches: part }] })),
      ),
      ...some(orders, STEP).map((part) => ({ orders: part })),
      ...(journals.length === 0 ? [] : [{ journals }]),
    ];
  }

  let before: unknown;
  test(
    'no answer changes while matches, orders and journals leave, a few at a time',
    async () => {
      await finish();
      before = await trading.answers();
      await until('the outbox was read', isRead);
      const forgetting = forgettingOf(archive);
      await forgetting.lease.take(TOKEN, LEASE_MS);
      await forgetting.open();
      const source = await sourceOf();
      const count = await here();
      const { redis, keys } = exchange.store;
      const trades = keys.trades(trading.market.id);
      const step = async (): Promise<boolean> => {
        const found = await source.next();
        for (const part of partsOf(found.leaving)) {
          await forgetting.move(TOKEN, part);
          expect(await trading.answers()).toEqual(before);
        }
        await source.done(found);
        await forgetting.lease.renew(TOKEN, LEASE_MS, found.position);
        const { orders, markets, journals } = found.leaving;
        return orders.length + markets.length + journals.length === 0 && (await redis.xlen(trades)) === 0;
      };
      await until('everything that is over has left', step, { patienceMs: LIMIT_MS });
      const { orders, matches, lines } = await archive.size();
      expect([orders > 2 * STEP, (await here()) + orders]).toEqual([true, count]);
      expect(matches).toBeGreaterThan(2 * MATCHES_STEP);
      expect(lines).toBeGreaterThan(matches);
      expect(await verified()).toEqual([orders, []]);
      await checkAudit();
    },
    LIMIT_MS,
  );

  test(
    'with PostgreSQL gone trading goes on, and whatever may be in the archive is 503',
    async () => {
      const [gone] = trading.sent.filter(({ pips }) => pips === 1_100);
      await postgres.kill();
      const ready = await exchange.client.get('/readyz');
      expect([ready.status, ready.body.archive]).toEqual([200, false]);
      const unknown = `0x${'5'.repeat(64)}`;
      const asked = [
        () => trading.alice.get('/me/orders'),
        () => gone?.trader.get(`/orders/${gone.orderHash}`),
        () => exchange.client.get(`/orders/${unknown}`),
        () => exchange.client.post(`/markets/${trading.market.id}/orders`, { body: { order: gone?.order } }),
        () => gone?.trader.post(`/orders/${gone.orderHash}/cancel`),
      ];
      for (const ask of asked) {
        const answer = await ask();
        expect([answer?.status, answer?.body.code]).toEqual([503, 'UNAVAILABLE']);
      }
      const hash = await trading.send(trading.alice, 400);
      const { body: open } = await settled(() => trading.alice.get('/me/orders?status=open'));
      expect(open.data).toHaveLength(2);
      expect((await trading.cancel(trading.alice, hash)).status).toBe(200);
      await postgres.revive();
      await until('the archive answers', () => archive.state().then(Boolean, () => false));
      const { body } = await settled(() => exchange.client.get(`/orders/${unknown}`));
      expect(body.code).toBe('ORDER_NOT_FOUND');
    },
    LIMIT_MS,
  );

  test(
    'a transaction whose answer was lost is taken back and made again',
    async () => {
      const lost: Archive = {
        ...archive,
        async append(batch, orders) {
          await archive.append(batch, orders);
          throw new Error('the answer was lost');
        },
      };
      const [count, orders] = [await here(), (await archive.size()).orders];
      const forgetting = forgettingOf(lost);
      await forgetting.lease.take(TOKEN, LEASE_MS);
      await forgetting.open();
      const found = await ended();
      expect(found.leaving.orders).toHaveLength(1);
      await expect(forgetting.move(TOKEN, { orders: found.leaving.orders })).rejects.toThrow('lost');
      expect([await here(), (await archive.size()).orders]).toEqual([count, orders + 1]);
      const next = forgettingOf(archive);
      await next.lease.take(TOKEN, LEASE_MS);
      await next.open();
      expect((await archive.size()).orders).toBe(orders);
      expect(await next.move(TOKEN, { orders: found.leaving.orders })).toMatchObject({ orders: 1 });
      expect([await here(), (await archive.size()).orders]).toEqual([count - 1, orders + 1]);
    },
    LIMIT_MS,
  );

  test(
    'a Redis that is put back from an older copy has its orders again, and the archive gives up what it has of them',
    async () => {
      const saved = exchange.saved();
      const [count, orders] = [await here(), (await archive.size()).orders];
      const hash = await trading.send(trading.bob, 700);
      await trading.cancel(trading.bob, hash);
      const forgetting = forgettingOf(archive);
      await forgetting.lease.take(TOKEN, LEASE_MS);
      await forgetting.open();
      const found = await ended();
      expect(await forgetting.move(TOKEN, { orders: found.leaving.orders })).toMatchObject({ orders: 1 });
      await exchange.restartRedis(0, saved);
      await expect(forgetting.move(TOKEN, { orders: found.leaving.orders })).rejects.toThrow(Fenced);
      const next = forgettingOf(archive);
      await next.lease.take(TOKEN, LEASE_MS);
      await next.open();
      expect([await here(), (await archive.size()).orders]).toEqual([count, orders]);
      const { body } = await settled(() => exchange.client.get(`/orders/${hash}`));
      expect(body.code).toBe('ORDER_NOT_FOUND');
      expect(await verified()).toEqual([orders, []]);
    },
    LIMIT_MS,
  );

  test(
    'a worker archives by itself, also after PostgreSQL was away, and another worker goes on',
    async () => {
      await forgettingOf(archive).lease.release(TOKEN);
      const failures: string[] = [];
      const start = () =>
        startArchiving({
          forgetting: forgettingOf(archive),
          openSource: sourceOf,
          onError: ({ message }) => failures.push(message),
        });
      const over = async (pips: number): Promise<string> => {
        const hash = await trading.send(trading.bob, pips);
        await trading.cancel(trading.bob, hash);
        return hash;
      };
      const leaves = (hash: string): Promise<void> =>
        until(
          'the order has left',
          async () => {
            await settle();
            return (await exchange.store.redis.hexists(exchange.store.keys.orders, hashBytes(hash))) === 0;
          },
          { patienceMs: LIMIT_MS / 4, explain: () => failures.join('\n') },
        );
      const first = start();
      await leaves(await over(600));
      await postgres.kill();
      const late = await over(700);
      await until('the worker says that the archive is away', async () => {
        await settle();
        return failures.length > 0;
      });
      await postgres.revive();
      await leaves(late);
      await first.stop();
      const second = start();
      await leaves(await over(800));
      await second.stop();
      const { orders } = await archive.size();
      expect(await verified()).toEqual([orders, []]);
      await checkAudit();
    },
    LIMIT_MS,
  );
});
