import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { micro } from '../src/exchange/units';
import { packSigned } from '../src/store/records/signed-order';
import { createKeys } from '../src/store/redis/keys';
import { createScripts } from '../src/store/redis/scripts';
import { createEngine, type Engine } from '../src/store/verbs/engine';
import type { PlaceRequest } from '../src/store/verbs/place';
import { READERS } from '../test/support/readers';
import type { ArchiveRow } from './archive';
import { batched, cost, inFlight, request, wallet } from './engine';
import { quantile, round } from './figures';
import { type Size, sizes } from './size';

/** Dead orders and their remains in Redis: the memory, and what a market with their traces costs the next order. */
const keys = createKeys();
const ORDERS = sizes(400, 50_000);
const WALLETS = 500;
const IN_FLIGHT = 200;
/** Rounds of a millisecond: between two of them other programs have their turn. */
const ROUNDS = sizes(2, 300);
const PER_ROUND = 50;
/** Redis gives back the buffers of a quiet connection after about two seconds. */
const QUIET_MS = sizes(100, 3_000);

/** Archives until `isLeft`. */
type Archiving = (isLeft: () => Promise<boolean>) => Promise<void>;

const market = (name: string) => ({
  id: name,
  conditionId: `0x${Buffer.from(name).toString('hex').padStart(64, '0')}`,
  slug: name,
});
const [TRACED, REFUSED, BARE] = ['tracedmk', 'refusedm', 'baremark'] as const;

export async function benchTraces(
  redis: Redis,
  size: Size,
  archiving: Archiving,
  emit: (row: ArchiveRow) => void,
): Promise<void> {
  const orders = ORDERS[size];
  const run = createScripts(batched(redis));
  const engine = createEngine({ run, grantMicro: micro(1e14), makersMax: 1_000 });
  // Entries of the slow log would count as memory of the orders.
  await redis.call('CONFIG', 'SET', 'slowlog-log-slower-than', -1);
  await redis.call('SLOWLOG', 'RESET');
  for (const id of [TRACED, REFUSED, BARE]) await engine.createMarket(market(id), '{}', 'OPEN');
  const kinds = [
    { of: 'an order that leaves a trace', id: TRACED, first: 6e6, isRefused: false },
    { of: 'an order below the nonce of its wallet', id: REFUSED, first: 7e6, isRefused: true },
  ];
  for (const { of, id, first, isRefused } of kinds) {
    const orderOf =
      (nonce: number) =>
      (n: number): PlaceRequest =>
        orderIn(id, first + (n % WALLETS), n, nonce);
    // The wallets and the market exist before, as they do on an exchange that has traded for a while.
    await live(redis, engine, WALLETS, orderOf(0));
    if (isRefused) await raise(redis, engine, first);
    await leave(redis, archiving);
    const before = await quietBytes(redis, size);
    await live(redis, engine, orders, orderOf(isRefused ? 1 : 0));
    if (isRefused) await raise(redis, engine, first);
    await leave(redis, archiving);
    const after = await quietBytes(redis, size);
    const bytesPerOrder = round((after - before) / orders);
    emit({ op: 'memory', of, isRefused, orders, bytesPerOrder });
  }
  emit({ op: 'insert', traces: orders + WALLETS, ...(await inserts(redis, engine, ROUNDS[size])) });
}

function orderIn(marketId: string, who: number, n: number, nonce = 0): PlaceRequest {
  const [side, price] = n % 2 ? (['bid', 3_500] as const) : (['ask', 6_500] as const);
  return { ...request(wallet(who), side, price, 100, 0), marketId, nonce, signed: signedAt(nonce) };
}

/** A signed order of the usual size; only its nonce matters here. */
export function signedAt(nonce: number): Buffer {
  const [maker, tokenId] = ['', 0n];
  return packSigned(
    {
      maker,
      signer: maker,
      taker: maker,
      tokenId,
      side: 0,
      signatureType: 0,
      signature: '',
      salt: 2n ** 255n,
      makerAmount: 10n ** 20n,
      takerAmount: 10n ** 20n,
      expiration: 0n,
      nonce: BigInt(nonce),
      feeRateBps: 0n,
    },
    randomBytes(65),
  );
}

/** Places a number of orders, which rest, and cancels them. */
async function live(
  redis: Redis,
  engine: Engine,
  count: number,
  orderOf: (n: number) => PlaceRequest,
): Promise<void> {
  for (let at = 0; at < count; at += IN_FLIGHT) {
    const orders = Array.from({ length: Math.min(IN_FLIGHT, count - at) }, (_, i) => orderOf(at + i));
    await inFlight(orders.length, (i) => engine.place(orders[i] as PlaceRequest));
    await inFlight(orders.length, (i) => {
      const { marketId, maker, orderHash } = orders[i] as PlaceRequest;
      return engine.cancel(marketId, maker, orderHash, 'USER');
    });
  }
  await finishReading(redis);
}

/** The operations are not remembered: each would count as memory of the orders. */
async function raise(redis: Redis, engine: Engine, first: number): Promise<void> {
  const nameOf = (i: number): string => `raise ${first + i}`;
  await inFlight(WALLETS, (i) => engine.raiseNonce(wallet(first + i), nameOf(i)));
  await redis.del(...Array.from({ length: WALLETS }, (_, i) => keys.operation(nameOf(i))));
}

/** The other readers of the outbox have finished with all of it; the processes that read it are not part of this. */
async function finishReading(redis: Redis): Promise<void> {
  const [last] = await redis.xrevrange(keys.outbox, '+', '-', 'COUNT', 1);
  for (const reader of READERS) await redis.hset(keys.readers, reader, last?.[0] ?? '0-0');
}

async function leave(redis: Redis, archiving: Archiving): Promise<void> {
  await finishReading(redis);
  await archiving(async () => (await redis.hlen(keys.orders)) === 0);
  await redis.xtrim(keys.outbox, 'MAXLEN', 1);
}

async function quietBytes(redis: Redis, size: Size): Promise<number> {
  await wait(QUIET_MS[size]);
  return usedBytes(redis);
}

/** The same orders in both markets, a moment apart. */
async function inserts(redis: Redis, engine: Engine, rounds: number) {
  const found: { micros: number; microsWithout: number }[] = [];
  // The first round makes wallets known and caches warm.
  for (let turn = -1; turn < rounds; turn++) {
    const cost = { micros: Number.NaN, microsWithout: Number.NaN };
    const kinds = [
      ['micros', TRACED],
      ['microsWithout', BARE],
    ] as const;
    for (const [kind, id] of turn % 2 === 0 ? kinds : kinds.toReversed())
      cost[kind] = await insertsIn(redis, engine, id);
    if (turn >= 0) found.push(cost);
  }
  // Other work on the machine makes single rounds longer, none shorter.
  const usual = (values: readonly number[]): number => quantile(values, 0.1);
  const micros = usual(found.map((one) => one.micros));
  const microsWithout = usual(found.map((one) => one.microsWithout));
  return {
    micros: round(micros),
    microsWithout: round(microsWithout),
    ratio: round(micros / microsWithout, 3),
  };
}

async function insertsIn(redis: Redis, engine: Engine, id: string): Promise<number> {
  const orders = Array.from({ length: PER_ROUND }, (_, n) => orderIn(id, 8e6 + (n % 100), n));
  const { micros } = await cost(redis, PER_ROUND, () =>
    inFlight(PER_ROUND, (i) => engine.place(orders[i] as PlaceRequest)),
  );
  await inFlight(PER_ROUND, (i) => {
    const { maker, orderHash } = orders[i] as PlaceRequest;
    return engine.cancel(id, maker, orderHash, 'USER');
  });
  return micros;
}

async function usedBytes(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}
