import { micro } from '../src/exchange/units';
import { connect, disconnect, ready } from '../src/store/redis/connection';
import { shardKeys } from '../src/store/redis/keys';
import { createScripts, type RedisClient } from '../src/store/redis/scripts';
import { type ShardCount, shardOfMarket } from '../src/store/redis/tags';
import { type Channels, createChannels } from '../src/store/verbs/channels';
import { createEngine, type Engine } from '../src/store/verbs/engine';
import { createShards } from '../src/store/verbs/shards';
import { createRandom, type Random } from '../test/support/random';
import { startTestCluster, startTestRedis } from '../test/support/redis';
import { request, wallet } from './engine';
import { median, quantile, round } from './figures';

/**
 * The CPU time of an order in Redis when the exchange has 2, 4 or 8 shards, each on its own master, beside one shard on one
 * Redis. Wallets keep a part of their collateral reserved in open orders: each order rests, and cancels the wallet's oldest
 * one while more is reserved. A wallet trades in few events of many, by Zipf's law, and an event's markets are in one shard.
 * As many orders are on their way for each master, so that all of them find as many commands in a read. The CPU time is that
 * of the main threads of all masters, for one order with its cancel and its part of the transfers.
 */
export interface ShardsRow {
  readonly suite: 'shards';
  readonly shards: number;
  readonly reservedPercent: number;
  readonly orders: number;
  readonly redisMicros: number;
  /** One shard's CPU time of an order divided by this. */
  readonly ofOne: number;
  /** Transfers for each order, and commands at other shards than the order's. */
  readonly transfersPerOrder: number;
  readonly pulledPart: number;
  readonly localP99Ms: number;
  readonly pulledP99Ms: number;
}

const COUNTS: readonly ShardCount[] = [1, 2, 4, 8];
const RESERVED_PERCENTS = [60, 90] as const;
const EVENTS = 200;
const MARKETS_PER_EVENT = 10;
/** Each has one command on its way. */
const WALLETS_PER_MASTER = 32;
/** One wallet in twenty is a trader, whose orders are large; the others make markets. */
const TRADER_EACH = 20;
const ORDERS_OF_MONEY = { maker: 400, trader: 30 } as const;
const ROUNDS = 5;
const ORDERS_PER_ROUND = 2_000;
/** Orders of each wallet before the first round, in terms of those that it has open: until the purses have found their balance. */
const WARM_UP_TIMES = 2;
const GRANT_MICRO = 1_200_000_000;
const PIPS = 3_000;
const SIGNED_BYTES = 118;
const READY_MS = 10_000;

interface Person {
  readonly address: string;
  readonly lots: number;
  readonly openMost: number;
  readonly open: { readonly marketId: string; readonly orderHash: string }[];
}

/** The transfers for which the purse asked. */
interface Transfers {
  sent: number;
  /** The wallets of these, until their order is booked. */
  readonly wallets: Set<string>;
}

interface World {
  readonly count: ShardCount;
  readonly redis: RedisClient;
  readonly exchange: Pick<Engine, 'place'>;
  readonly engineOf: (marketId: string) => Promise<Pick<Engine, 'cancelMany'>>;
  readonly markets: readonly string[];
  readonly people: readonly Person[];
  readonly random: Random;
  readonly transfers: Transfers;
  stop(): Promise<void>;
}

interface Taken {
  readonly micros: number;
  readonly transfers: number;
  readonly localMs: readonly number[];
  readonly pulledMs: readonly number[];
}

export async function benchShards(deadlineMs: number, emit: (row: ShardsRow) => void): Promise<void> {
  for (const reservedPercent of RESERVED_PERCENTS) {
    const worlds: World[] = [];
    try {
      for (const count of COUNTS) worlds.push(await openWorld(count, reservedPercent));
      for (const world of worlds) await trade(world, warmUpOf(world));
      const taken = new Map<World, Taken[]>(worlds.map((world) => [world, []]));
      for (let turn = 0; turn < ROUNDS && Date.now() < deadlineMs; turn++)
        for (const world of worlds) taken.get(world)?.push(await trade(world, ORDERS_PER_ROUND));
      const costOf = (world: World): number => median((taken.get(world) ?? []).map(({ micros }) => micros));
      const [one] = worlds;
      for (const world of worlds)
        emit(rowOf(world, reservedPercent, taken.get(world) ?? [], one ? costOf(one) : Number.NaN));
    } finally {
      for (const world of worlds) await world.stop();
    }
  }
}

function rowOf(
  { count }: World,
  reservedPercent: number,
  rounds: readonly Taken[],
  oneMicros: number,
): ShardsRow {
  const micros = median(rounds.map((taken) => taken.micros));
  const [local, pulled] = [
    rounds.flatMap(({ localMs }) => localMs),
    rounds.flatMap(({ pulledMs }) => pulledMs),
  ];
  const orders = local.length + pulled.length;
  return {
    ...{ suite: 'shards', shards: count, reservedPercent, orders },
    redisMicros: round(micros),
    ofOne: round(oneMicros / micros, 3),
    transfersPerOrder: round(rounds.reduce((sum, { transfers }) => sum + transfers, 0) / orders, 4),
    pulledPart: round(pulled.length / orders, 4),
    localP99Ms: round(quantile(local, 0.99)),
    pulledP99Ms: round(quantile(pulled, 0.99)),
  };
}

async function openWorld(count: ShardCount, reservedPercent: number): Promise<World> {
  const server = count === 1 ? await startTestRedis() : await startTestCluster(count);
  const redis = connect({ urls: server.url.split(',') });
  await ready(redis, READY_MS);
  const run = createScripts(redis);
  const keys = Array.from({ length: count }, (_, k) => shardKeys(k));
  const terms = { run, grantMicro: micro(GRANT_MICRO), makersMax: 500 };
  const transfers: Transfers = { sent: 0, wallets: new Set() };
  const engines = keys.map((shard) => createEngine({ ...terms, keys: shard }));
  const places = new Map<string, number>();
  for (let event = 0; event < EVENTS; event++) {
    for (let n = 0; n < MARKETS_PER_EVENT; n++) {
      const id = `e${String(event).padStart(4, '0')}m${String(n).padStart(2, '0')}`;
      const shard = shardOfMarket({ event: { slug: `event-${event}` }, id }, count);
      places.set(id, shard);
      await engines[shard]?.createMarket({ id, conditionId: `0x${id}`, slug: id }, '{}', 'OPEN');
    }
  }
  const shardOf = async (id: string): Promise<number> => places.get(id) ?? 0;
  const shards =
    count === 1
      ? null
      : createShards({
          ...terms,
          redis,
          shards: keys,
          shardOf,
          channels: counted(createChannels({ redis, run, shards: keys }), transfers),
        });
  const [one] = engines;
  if (!one) throw new Error('no shard');
  return {
    ...{ count, redis, transfers, exchange: shards ?? one },
    engineOf: async (id) => engines[places.get(id) ?? 0] ?? one,
    markets: [...places.keys()],
    people: Array.from({ length: count * WALLETS_PER_MASTER }, (_, n) => person(n, reservedPercent)),
    random: createRandom(count),
    async stop() {
      disconnect(redis);
      await server.stop();
    },
  };
}

function counted(channels: Channels, transfers: Transfers): Channels {
  return {
    ...channels,
    send: (options) => {
      transfers.sent++;
      transfers.wallets.add(options.wallet.toString('hex'));
      return channels.send(options);
    },
  };
}

function person(n: number, reservedPercent: number): Person {
  const parts = ORDERS_OF_MONEY[n % TRADER_EACH === 0 ? 'trader' : 'maker'];
  const lots = Math.floor(GRANT_MICRO / parts / PIPS);
  return { address: wallet(5e6 + n), lots, openMost: Math.floor((parts * reservedPercent) / 100), open: [] };
}

const warmUpOf = ({ count, people }: World): number =>
  Math.ceil((WARM_UP_TIMES * people.reduce((sum, { openMost }) => sum + openMost, 0)) / count);

/** So many orders for each master; each wallet sends one after another. */
async function trade(world: World, ordersPerMaster: number): Promise<Taken> {
  const { count, transfers, people } = world;
  const [localMs, pulledMs]: [number[], number[]] = [[], []];
  const [sentBefore, before] = [transfers.sent, await mainThreadMicros(world.redis)];
  const orders = ordersPerMaster * count;
  let left = orders;
  const lane = async (one: Person): Promise<void> => {
    while (left-- > 0) await step(world, one, localMs, pulledMs);
  };
  await Promise.all(people.map(lane));
  const micros = ((await mainThreadMicros(world.redis)) - before) / orders;
  return { micros, transfers: transfers.sent - sentBefore, localMs, pulledMs };
}

async function step(world: World, one: Person, localMs: number[], pulledMs: number[]): Promise<void> {
  const { exchange, transfers } = world;
  const oldest = one.open.length >= one.openMost ? one.open.shift() : undefined;
  if (oldest) {
    const engine = await world.engineOf(oldest.marketId);
    await engine.cancelMany(oldest.marketId, one.address, [oldest.orderHash], 'USER');
  }
  const marketId = marketFor(world);
  const order = { ...request(one.address, 'bid', PIPS, one.lots, SIGNED_BYTES), marketId };
  const startedAt = performance.now();
  await exchange.place(order);
  const isPulled = transfers.wallets.delete(one.address.slice(2));
  (isPulled ? pulledMs : localMs).push(performance.now() - startedAt);
  one.open.push({ marketId, orderHash: order.orderHash });
}

/** The sum of the weights of each event and those before it. */
const WEIGHTS: readonly number[] = (() => {
  let sum = 0;
  return Array.from({ length: EVENTS }, (_, event) => {
    sum += 1 / (event + 1);
    return sum;
  });
})();

/** Event n with a weight of 1 / (n + 1), and any of its markets. */
function marketFor({ random, markets }: World): string {
  const weight = random.next() * (WEIGHTS.at(-1) ?? 0);
  const event = WEIGHTS.findIndex((sum) => sum >= weight);
  return markets[event * MARKETS_PER_EVENT + random.int(0, MARKETS_PER_EVENT - 1)] ?? '';
}

async function mainThreadMicros(redis: RedisClient): Promise<number> {
  const masters = 'nodes' in redis ? redis.nodes('master') : [redis];
  const infos = await Promise.all(masters.map((master) => master.info('cpu')));
  const of = (info: string, name: string): number =>
    Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return infos.reduce(
    (sum, info) => sum + 1e6 * (of(info, 'used_cpu_user_main_thread') + of(info, 'used_cpu_sys_main_thread')),
    0,
  );
}
