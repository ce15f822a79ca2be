import { Refusal } from '../../../../src/exchange/errors';
import type { Channels } from '../../../../src/extensions/shards/store/channels';
import { createTransfers } from '../../../../src/extensions/shards/store/transfers';
import type { RunningRedis } from '../../../../src/local/redis';
import { addressBytes } from '../../../../src/store/records/order';
import { createRandom } from '../../../support/random';
import { startTestCluster, startTestRedis, type TestCluster } from '../../../support/redis';
import { tell } from '../../../support/telling';
import { sleep } from '../../../support/waiting';
import { GRANT, openShardWorld, type ShardWorld, walletWithHome } from './world';

/**
 * Many pulls at once whose gatherers die between any two steps, while balances are read. Whatever is left on its way, one turn of the
 * worker's chore a second later makes whole, on one Redis and on a cluster of three masters. `SHARD_PULLS=20000` makes as many pulls
 * and half as many reads.
 */
const PULLS = Number(process.env.SHARD_PULLS ?? 1_000);
const WALLETS = 16;
const COUNT = 4;
const LANES = 8;
const READS = PULLS / 2;
/** The chore leaves entries of the last second to the commands that sent them. */
const YOUNG_MS = 1_100;
const LIMIT_MS = 1_200_000;

class Killed extends Error {}

/** Every step may be the last of its gatherer: the step itself has run or has not. */
function deadly(channels: Channels, mayDie: () => boolean): Channels {
  const die = (): void => {
    if (mayDie()) throw new Killed();
  };
  const step =
    <Args extends unknown[], T>(act: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      die();
      const result = await act(...args);
      die();
      return result;
    };
  return {
    send: step(channels.send),
    take: step(channels.take),
    drain: step(channels.drain),
    hold: step(channels.hold),
    isHeld: step(channels.isHeld),
    notedOf: channels.notedOf,
    release: step(channels.release),
    shardsOf: step(channels.shardsOf),
    look: step(channels.look),
    lift: step(channels.lift),
  };
}

/** How often each sum of free and reserved collateral was read. */
async function readSums({ exchange }: ShardWorld, wallets: readonly string[]): Promise<Map<number, number>> {
  const sums = new Map<number, number>();
  for (let i = 0; i < READS; i++) {
    const { freeMicro, reservedMicro } = await exchange.collateral(wallets[i % wallets.length] as string);
    const sum = freeMicro + reservedMicro;
    sums.set(sum, (sums.get(sum) ?? 0) + 1);
  }
  return sums;
}

async function storm(urls: readonly string[], pulls: number, seed: number): Promise<void> {
  const random = createRandom(seed);
  let isDeadly = true;
  let killed = 0;
  const w: ShardWorld = await openShardWorld({
    urls,
    count: COUNT,
    around: (channels) => deadly(channels, () => isDeadly && random.chance(0.05) && ++killed > 0),
  });
  // Another process, whose steps do not end early.
  const reader: ShardWorld = await openShardWorld({ urls, count: COUNT, isOpen: true });
  try {
    const wallets = Array.from({ length: WALLETS }, (_, i) =>
      walletWithHome(i % COUNT, COUNT, Math.floor(i / COUNT)),
    );
    const told = new Map<string, number>();
    let toMake = pulls;
    const lane = async (): Promise<void> => {
      while (toMake-- > 0) {
        const [wallet, shard] = [random.pick(wallets), random.int(0, COUNT - 1)];
        const order = w.order(shard, wallet, 0, 0, 5_000, random.int(1, 110) * 200);
        const end = await w.exchange.place(order).then(
          () => 'BOOKED',
          (error: unknown) => {
            if (error instanceof Killed) return 'KILLED';
            if (error instanceof Refusal) return error.code;
            throw error;
          },
        );
        told.set(end, (told.get(end) ?? 0) + 1);
        // Frees the reserve of an order that was booked, also when the gatherer died before it could say so.
        await w.exchange.cancelMany(order.marketId, wallet, [order.orderHash], 'USER');
        if (random.chance(0.02)) await w.transfers.finish();
      }
    };
    const lanes = Array.from({ length: LANES }, lane);
    const sums = await readSums(reader, wallets);
    await Promise.all(lanes);
    isDeadly = false;
    const left = await w.inTransit();
    await sleep(YOUNG_MS);
    const { redis, channels, shards } = w;
    const { broken } = await createTransfers({ redis, channels, shards }).finish();
    tell(
      `storm of ${pulls} pulls, seed ${seed}, ${killed} killed: ${JSON.stringify([...told])}, ${left} micro-units left on their way`,
    );
    expect(broken).toEqual([]);
    expect(await w.inTransit()).toBe(0n);
    expect([...sums]).toEqual([[GRANT, READS]]);
    expect(await w.differences()).toEqual([]);
    for (const wallet of wallets) {
      expect(await w.exchange.collateral(wallet)).toEqual({ freeMicro: GRANT, reservedMicro: 0 });
      const parts = await Promise.all([0, 1, 2, 3].map((k) => w.channels.look(k, addressBytes(wallet))));
      const seen = parts.some(({ freeMicro }) => freeMicro !== null);
      const sum = parts.reduce((all, { freeMicro }) => all + (freeMicro ?? 0), 0);
      expect(sum).toBe(seen ? GRANT : 0);
    }
    expect([told.has('BOOKED'), told.has('KILLED'), told.has('INSUFFICIENT_BALANCE')]).toEqual([
      true,
      true,
      true,
    ]);
  } finally {
    w.stop();
    reader.stop();
  }
}

describe('a storm of pulls whose gatherers die between two steps leaves every shard whole', () => {
  let server: RunningRedis;
  let cluster: TestCluster;
  beforeAll(async () => {
    [server, cluster] = await Promise.all([startTestRedis(), startTestCluster(3)]);
  });
  afterAll(() => Promise.all([server.stop(), cluster.stop()]));

  test('on one Redis', () => storm([server.url], PULLS, 7), LIMIT_MS);

  test('on a cluster of three masters', () => storm(cluster.url.split(','), PULLS, 8), LIMIT_MS);
});
