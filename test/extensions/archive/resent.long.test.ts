import { Refusal } from '../../../src/exchange/errors';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createArchivedReads } from '../../../src/extensions/archive/store/archived-reads';
import { createForgetting, type Forgetting } from '../../../src/extensions/archive/store/forgetting';
import { TRACES } from '../../../src/store/records/layout';
import { hashBytes } from '../../../src/store/records/order';
import { createEngine, type Engine } from '../../../src/store/verbs/engine';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import { withWorlds } from '../../store/engine/setup';
import { alice, bob, parseMicro, START_SECOND } from '../../support/engine-world';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { traceOf } from '../../support/trace';
import { eventually, until } from '../../support/waiting';

/** Archived orders that are sent again, half of them while PostgreSQL is away. RESENT_ORDERS makes it longer. */
const ORDERS = Number(process.env.RESENT_ORDERS ?? 800);
const STEP = 200;
const KEEP_MS = 60_000;
const LEASE_MS = 3_600_000;
const TOKEN = 'the test';
const LIMIT_MS = 1_200_000;

const { world } = withWorlds();

describeWithPostgres('orders that are in the archive', () => {
  let postgres: TestPostgres;
  let archive: Archive;
  beforeAll(async () => {
    postgres = await startTestPostgres();
    archive = createArchive({ url: postgres.url });
  }, LIMIT_MS);
  afterAll(async () => {
    await archive?.close();
    await postgres?.stop();
  });

  const engineOf = (): Engine => {
    const { redis, run, keys } = world();
    const archivedReads = createArchivedReads({ redis, keys, archive });
    return createEngine({ run, grantMicro: parseMicro('1000000'), makersMax: 500, archivedReads });
  };

  async function opened(): Promise<Forgetting> {
    const { redis, run, keys } = world();
    const forgetting = createForgetting({ redis, run, keys, archive });
    expect(await forgetting.lease.take(TOKEN, LEASE_MS)).toBe(true);
    await forgetting.open();
    return forgetting;
  }

  /** The answers to orders, each with how often it came. */
  async function answers(engine: Engine, orders: readonly PlaceRequest[]): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (let from = 0; from < orders.length; from += STEP) {
      const told = await Promise.all(
        orders.slice(from, from + STEP).map((order) =>
          engine.place(order).then(
            ({ replayed, record }) => `${replayed ? 'known' : 'booked'} ${record.status}`,
            (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
          ),
        ),
      );
      for (const answer of told) counts[answer] = (counts[answer] ?? 0) + 1;
    }
    return counts;
  }

  test(
    'an order that was never sent is booked once, also when its market has the trace of another order with the same numbers',
    async () => {
      const { redis, run, keys } = world();
      await world().market();
      const engine = engineOf();
      await opened();
      const order = { ...world().buy(bob, 0, '1', '0.01'), orderHash: `0x${'5a'.repeat(32)}` };
      const noted = TRACES.pack({ buckets: 1, span: 2, factor: 7, expiredSec: 0, traces: 1 });
      await redis.hset(keys.market('market00'), 'g', noted);
      await redis.sadd(`${keys.market('market00')}:g\0\0\0`, traceOf(order.orderHash));
      const withoutArchive = createEngine({ run, keys, grantMicro: parseMicro('10000'), makersMax: 500 });
      // The trace is met: without an archive the exchange cannot say whether the order ran.
      await expect(withoutArchive.place(order)).rejects.toMatchObject({ code: expect.any(String) });
      expect(await redis.hlen(keys.orders)).toBe(0);
      expect(await answers(engine, [order])).toEqual({ 'booked OPEN': 1 });
      expect(await answers(engine, [order])).toEqual({ 'known OPEN': 1 });
      expect([await redis.hlen(keys.orders), (await world().balance(bob)).cash]).toEqual([
        1,
        '999999.99 (0.01)',
      ]);
    },
    LIMIT_MS,
  );

  test(
    `${ORDERS} of them are sent again: none runs, and each gets its record, or UNAVAILABLE while PostgreSQL is away`,
    async () => {
      const { redis, keys } = world();
      await world().market();
      const engine = engineOf();
      const forgetting = await opened();
      const sent: PlaceRequest[] = [];
      for (let from = 0; from < ORDERS; from += STEP) {
        const part = Array.from({ length: STEP }, () => world().buy(alice, 0, '1', '0.01'));
        await Promise.all(part.map((order) => engine.place(order)));
        await engine.cancelAll(alice, {});
        await world().clock(START_SECOND * 1_000 + (from / STEP + 1) * KEEP_MS);
        const raw = part.map(({ orderHash }) => hashBytes(orderHash));
        const packed = await redis.hmgetBuffer(keys.orders, ...raw);
        const orders = raw.map((hash, i) => ({ hash, packed: packed[i] as Buffer }));
        expect((await forgetting.move(TOKEN, { orders })).orders).toBe(STEP);
        sent.push(...part);
      }
      const half = ORDERS / 2;
      expect(await answers(engine, sent.slice(0, half))).toEqual({ 'known CANCELLED': half });
      await postgres.kill();
      expect(await answers(engine, sent.slice(half))).toEqual({ UNAVAILABLE: half });
      await postgres.revive();
      await until('the archive answers', () => archive.state().then(Boolean, () => false));
      // A busy machine answers some of them too late, with UNAVAILABLE.
      await eventually(
        () => answers(engine, sent),
        (told) => expect(told).toEqual({ 'known CANCELLED': ORDERS }),
      );
      expect([await redis.hlen(keys.orders), (await archive.size()).orders]).toEqual([0, ORDERS]);
      expect((await world().balance(alice)).cash).toBe('1000000 (0)');
      // It was accepted once, so no mode refuses it.
      for (const mode of ['CANCEL_ONLY', 'HALTED'] as const) {
        await engine.setMode(mode);
        const fresh = world().buy(alice, 0, '1', '0.01');
        expect(await answers(engine, [...sent.slice(0, 10), fresh])).toEqual({
          'known CANCELLED': 10,
          [mode]: 1,
        });
      }
    },
    LIMIT_MS,
  );
});
