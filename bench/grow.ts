import { micro } from '../src/exchange/units';
import { connect, disconnect, ready } from '../src/store/redis/connection';
import { holderOf } from '../src/store/redis/holder';
import { shardKeys } from '../src/store/redis/keys';
import { createScripts, type RedisClient } from '../src/store/redis/scripts';
import { growShards } from '../src/store/shards/grow';
import { noteShards } from '../src/store/shards/layout';
import { createEngine } from '../src/store/verbs/engine';
import { startTestCluster } from '../test/support/redis';
import { request, wallet } from './engine';
import { round } from './figures';
import { createFiller } from './fill';

/**
 * How long an exchange is HALTED while it grows from one shard to four on four masters: from the change of the mode to the end of
 * growShards, which `exchange shards grow` runs. It waits three seconds of these for processes to notice.
 */
export interface GrowRow {
  readonly suite: 'grow';
  readonly orders: number;
  readonly wallets: number;
  /** Wallets whose home is another shard then. */
  readonly moved: number;
  readonly haltedMs: number;
}

const TO = 4;
const MARKETS = 100;
const ORDERS_PER_WALLET = 10;
const FILL_STEP = 5_000;
const FIRST_PIPS = 100;
const PRICES = 30;
const LOTS = 100;
const SIGNED_BYTES = 118;
const HALTED = '2';
const READY_MS = 10_000;
const keys = shardKeys();

export async function benchGrow(orders: number, emit: (row: GrowRow) => void): Promise<void> {
  const cluster = await startTestCluster(TO);
  const redis = connect({ urls: cluster.url.split(',') });
  try {
    await ready(redis, READY_MS);
    const run = createScripts(redis);
    await noteShards({ redis, run }, [keys]);
    await fill(redis, orders);
    const shards = Array.from({ length: TO }, (_, k) => shardKeys(k));
    const startedAt = performance.now();
    await redis.set(keys.mode, HALTED);
    const { moved } = await growShards({ redis, run, shards });
    const haltedMs = round(performance.now() - startedAt);
    const found = [await redis.hlen(keys.orders), moved < orders / ORDERS_PER_WALLET];
    if (found.join() !== [orders, true].join()) throw new Error(`${found[0]} of ${orders} orders are there`);
    emit({ suite: 'grow', orders, wallets: orders / ORDERS_PER_WALLET, moved, haltedMs });
  } finally {
    disconnect(redis);
    await cluster.stop();
  }
}

/** Resting bids of the markets of one shard. */
async function fill(redis: RedisClient, orders: number): Promise<void> {
  const engine = createEngine({ run: createScripts(redis), keys, grantMicro: micro(1e14), makersMax: 500 });
  const idOf = (n: number): string => `grow${String(n % MARKETS).padStart(4, '0')}`;
  for (let n = 0; n < MARKETS; n++)
    await engine.createMarket({ id: idOf(n), conditionId: `0x${idOf(n)}`, slug: idOf(n) }, '{}', 'OPEN');
  const order = (n: number) => {
    const maker = wallet(Math.floor(n / ORDERS_PER_WALLET));
    const pips = FIRST_PIPS * (1 + (n % PRICES));
    return { ...request(maker, 'bid', pips, LOTS, SIGNED_BYTES), marketId: idOf(n) };
  };
  // One order the usual way, so that Redis knows the script.
  await engine.place(order(0));
  const filler = await createFiller(holderOf(redis, keys));
  try {
    for (let at = 1; at < orders; at += FILL_STEP) {
      const count = Math.min(FILL_STEP, orders - at);
      await filler.place(Array.from({ length: count }, (_, i) => order(at + i)));
      await redis.xtrim(keys.outbox, 'MAXLEN', 0);
    }
  } finally {
    filler.stop();
  }
}
