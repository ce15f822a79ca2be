import { setTimeout as sleep } from 'node:timers/promises';
import { micro } from '../src/exchange/units';
import { type Channels, createChannels } from '../src/extensions/shards/store/channels';
import { createShards } from '../src/extensions/shards/store/engine';
import { connect, disconnect, ready } from '../src/store/redis/connection';
import { holderOf } from '../src/store/redis/holder';
import { createKeys } from '../src/store/redis/keys';
import { createScripts, type RedisClient } from '../src/store/redis/scripts';
import { type ShardCount, shardOfMarket } from '../src/store/redis/tags';
import { createEngine, type Engine } from '../src/store/verbs/engine';
import { createRandom, type Random } from '../test/support/random';
import { startTestCluster } from '../test/support/redis';
import { request, wallet } from './engine';
import { type Recording, type Sent, streamIds, type Totals, totalsOf } from './replay';
import { type Size, sizes } from './size';

/**
 * An exchange with a master for each shard. Wallets keep a part of their collateral reserved in open orders: each order rests, and
 * cancels the wallet's oldest one while more is reserved. A wallet trades in few events of many, by Zipf's law, and an event's
 * markets are in one shard.
 */
export interface World {
  /** Trades until the purses have found their balance, and then the rounds. */
  trade(): Promise<Traded>;
  stop(): Promise<void>;
}

export interface Traded {
  /** Figures of each shard: the orders before the first slice, and then those of each slice. */
  readonly commands: readonly Recording[];
  readonly totals: readonly Totals[];
  /** In all slices. */
  readonly orders: number;
  readonly pulled: number;
  readonly transfers: number;
  /** Figures of the slices that were traded at a steady pace. */
  readonly localMs: readonly number[];
  readonly pulledMs: readonly number[];
}

/** Other programs of the machine disturb some of them. */
export const ROUNDS = sizes(1, 9);
/** The slices of a round, whatever the number of masters: each of eight masters plays one, or one master all. */
export const SLICES_OF_ROUND = 8;
/** Orders of a slice of one master. Shorter slices find the processor's caches cold: an order then takes twice as long. */
export const ORDERS_OF_SLICE = sizes(50, 1_000);
/** The orders that are timed, of all masters. */
const PACED_ORDERS = 24_000;
const EVENTS = 200;
const MARKETS_PER_EVENT = 10;
/** Each has one command on its way. */
const WALLETS_PER_MASTER = 32;
/** One wallet in twenty is a trader, whose orders are large; the others make markets. */
const TRADER_EACH = 20;
const ORDERS_OF_MONEY = sizes({ maker: 20, trader: 10 }, { maker: 400, trader: 30 });
/** The pace of timed orders: slow enough that no order waits in this process, which feeds all masters alone. */
const ORDERS_PER_SECOND = 1_000;
/** Orders of each wallet before the first round, in terms of those that it has open, and the least number in a shard. */
const WARM_UP_TIMES = 2;
/**
 * Redis keeps a sorted set of up to 128 members as a list, and looks through it; a wallet's index of its orders in a shard outgrows
 * that after this number of orders, and stays a skip list. With 400 orders over eight shards every index would be the longest of lists.
 */
const WARM_UP_IN_SHARD = sizes(10, 160);
const GRANT_MICRO = 1_200_000_000;
const PIPS = 3_000;
const SIGNED_BYTES = 118;
const READY_MS = 10_000;
/** Commands that the client sends by itself. */
const OF_THE_CLIENT: ReadonlySet<string> = new Set(['auth', 'client', 'cluster', 'info', 'ping', 'select']);

interface Person {
  readonly address: string;
  readonly lots: number;
  readonly openMost: number;
  readonly open: { readonly marketId: string; readonly orderHash: string }[];
}

interface Place {
  readonly exchange: Pick<Engine, 'place'>;
  readonly engineOf: (marketId: string) => Pick<Engine, 'cancelMany'>;
  readonly markets: readonly string[];
  readonly random: Random;
  /** Transfers of collateral between shards. */
  readonly transfers: { sent: number; readonly wallets: Set<string> };
}

interface Times {
  readonly localMs: number[];
  readonly pulledMs: number[];
}

const noTimes = (): Times => ({ localMs: [], pulledMs: [] });

/** A wallet has all of its open orders in these shards, or the part that would be in one of them. */
export type Open = 'all' | 'part';

/** With `of`, one shard has the wallets of that number of shards. */
export async function openWorld(
  size: Size,
  count: ShardCount,
  reservedPercent: number,
  of: ShardCount = count,
  open: Open = 'all',
): Promise<World> {
  const cluster = await startTestCluster(count);
  const redis = connect({ urls: cluster.url.split(',') });
  await ready(redis, READY_MS);
  const recorded = recordAll(redis, count);
  const place = await openPlace(redis, count);
  const openPart = (reservedPercent / 100) * (open === 'part' ? count / of : 1);
  const people = Array.from({ length: of * WALLETS_PER_MASTER }, (_, n) => person(n, openPart, size));

  async function trade(): Promise<Traded> {
    const most = people.reduce((sum, { openMost }) => sum + openMost, 0);
    const warmUp = Math.max(WARM_UP_TIMES * most, WARM_UP_IN_SHARD[size] * count * people.length);
    await tradeOn(place, people, warmUp, 0, noTimes());
    const sentBefore = place.transfers.sent;
    const [paced, quick]: [Times, Times] = [noTimes(), noTimes()];
    const pauseMs = (1_000 * people.length) / ORDERS_PER_SECOND;
    const ordersOfAll = count * ORDERS_OF_SLICE[size];
    const slices = (ROUNDS[size] * SLICES_OF_ROUND) / count;
    for (let slice = 0; slice < slices; slice++) {
      for (const shard of recorded) shard.push([]);
      // One shard that stands for several gives no times.
      const isPaced = of === count && slice * ordersOfAll < PACED_ORDERS;
      await tradeOn(place, people, ordersOfAll, isPaced ? pauseMs : 0, isPaced ? paced : quick);
    }
    return {
      commands: recorded,
      ...paced,
      totals: await Promise.all(recorded.map((_, shard) => totalsOf(redis, shard))),
      orders: slices * ordersOfAll,
      pulled: paced.pulledMs.length + quick.pulledMs.length,
      transfers: place.transfers.sent - sentBefore,
    };
  }

  return {
    trade,
    async stop() {
      disconnect(redis);
      await cluster.stop();
    },
  };
}

/** The commands that the master of each shard gets from now on. */
function recordAll(redis: RedisClient, count: ShardCount): Sent[][][] {
  return Array.from({ length: count }, (_, shard) => {
    const rounds: Sent[][] = [[]];
    const client = holderOf(redis, createKeys(shard));
    const send = client.sendCommand.bind(client);
    client.sendCommand = (command, stream) => {
      if (!OF_THE_CLIENT.has(command.name)) {
        const sent: Sent = { name: command.name, args: command.args as Sent['args'] };
        rounds.at(-1)?.push(sent);
        command.promise.then(
          (reply: unknown) => {
            const ids = streamIds(reply);
            if (ids.length > 0) sent.ids = ids;
          },
          () => undefined,
        );
      }
      return send(command, stream);
    };
    return rounds;
  });
}

async function openPlace(redis: RedisClient, count: ShardCount): Promise<Place> {
  const run = createScripts(redis);
  const keys = Array.from({ length: count }, (_, k) => createKeys(k));
  const terms = { run, grantMicro: micro(GRANT_MICRO), makersMax: 500 };
  const transfers: Place['transfers'] = { sent: 0, wallets: new Set() };
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
  const channels = counted(createChannels({ redis, run, shards: keys }), transfers);
  const [one] = engines;
  if (!one) throw new Error('no shard');
  return {
    transfers,
    markets: [...places.keys()],
    random: createRandom(count),
    exchange: count === 1 ? one : createShards({ ...terms, redis, shards: keys, shardOf, channels }),
    engineOf: (id) => engines[places.get(id) ?? 0] ?? one,
  };
}

function counted(channels: Channels, transfers: Place['transfers']): Channels {
  return {
    ...channels,
    send: (options) => {
      transfers.sent++;
      transfers.wallets.add(options.wallet.toString('hex'));
      return channels.send(options);
    },
  };
}

function person(n: number, openPart: number, size: Size): Person {
  const parts = ORDERS_OF_MONEY[size][n % TRADER_EACH === 0 ? 'trader' : 'maker'];
  const lots = Math.floor(GRANT_MICRO / parts / PIPS);
  return { address: wallet(5e6 + n), lots, openMost: Math.max(1, Math.floor(parts * openPart)), open: [] };
}

/** Each wallet sends one order after another, and one in `pauseMs` at most. */
async function tradeOn(
  place: Place,
  people: readonly Person[],
  orders: number,
  pauseMs: number,
  times: Times,
): Promise<void> {
  let left = orders;
  const lane = async (one: Person, n: number): Promise<void> => {
    let nextMs = performance.now() + (pauseMs * n) / people.length;
    while (left-- > 0) {
      if (pauseMs > 0) await sleep(Math.max(0, nextMs - performance.now()));
      nextMs = performance.now() + pauseMs;
      await step(place, one, times);
    }
  };
  await Promise.all(people.map(lane));
}

async function step(
  { exchange, engineOf, transfers, ...place }: Place,
  one: Person,
  times: Times,
): Promise<void> {
  const oldest = one.open.length >= one.openMost ? one.open.shift() : undefined;
  if (oldest)
    await engineOf(oldest.marketId).cancelMany(oldest.marketId, one.address, [oldest.orderHash], 'USER');
  const marketId = marketFor(place);
  const order = { ...request(one.address, 'bid', PIPS, one.lots, SIGNED_BYTES), marketId };
  const startedAt = performance.now();
  await exchange.place(order);
  const isPulled = transfers.wallets.delete(one.address.slice(2));
  times[isPulled ? 'pulledMs' : 'localMs'].push(performance.now() - startedAt);
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
function marketFor({ random, markets }: Pick<Place, 'random' | 'markets'>): string {
  const weight = random.next() * (WEIGHTS.at(-1) ?? 0);
  const event = WEIGHTS.findIndex((sum) => sum >= weight);
  return markets[event * MARKETS_PER_EVENT + random.int(0, MARKETS_PER_EVENT - 1)] ?? '';
}
