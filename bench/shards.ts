import type { ShardCount } from '../src/store/redis/tags';
import { median, quantile, round } from './figures';
import { openReplay, type Replay } from './replay';
import { openWorld, ROUNDS, type Traded } from './shards-world';

/**
 * The CPU time of an order at the masters of 2, 4 and 8 shards, beside one. The masters would share two processors here, so their costs
 * are not measured while they trade together. First the exchange trades on a cluster with a master for each shard, and the
 * commands that each shard gets are written down: orders, cancels, and what brings collateral to another shard. Then each shard's
 * commands are sent to a master that has a processor to itself, as many at a time for every number of shards. The CPU time is
 * that of the main threads of all masters for one order, with its cancel and its part of the transfers.
 *
 * Eight masters serve eight times the wallets of one, and each of them has an account of nearly all. More accounts fill more of the
 * processor's caches, in one shard as in eight. So each number of shards is also compared with one shard that has as many wallets,
 * and of the open orders as many as each of these masters.
 */
export interface ShardsRow {
  readonly suite: 'shards';
  readonly shards: number;
  readonly reservedPercent: number;
  readonly orders: number;
  readonly redisMicros: number;
  /** One shard's CPU time of an order divided by this: the median of the rounds, in each of which all take their turn. */
  readonly ofOne: number;
  /** The same of one shard with as many wallets and open orders as each of these masters. */
  readonly ofAlike: number;
  /** Transfers for each order, and the part of the orders that needed one. */
  readonly transfersPerOrder: number;
  readonly pulledPart: number;
  readonly localP99Ms: number;
  readonly pulledP99Ms: number;
}

const COUNTS: readonly ShardCount[] = [1, 2, 4, 8];
const RESERVED_PERCENTS = [60, 90] as const;

interface Side {
  readonly count: ShardCount;
  /** One shard with the wallets of so many. */
  readonly of: ShardCount;
  readonly traded: Traded;
  readonly replay: Replay;
  /** Of an order in each round. */
  readonly micros: number[];
}

export async function benchShards(deadlineMs: number, emit: (row: ShardsRow) => void): Promise<void> {
  for (const reservedPercent of RESERVED_PERCENTS) {
    const sides: Side[] = [];
    try {
      const alike = COUNTS.filter((of) => of > 1).map((of) => ({ count: 1, of }) as const);
      for (const { count, of } of [...COUNTS.map((count) => ({ count, of: count })), ...alike]) {
        const traded = await tradeOn(count, reservedPercent, of);
        sides.push({ count, of, traded, replay: await openReplay(traded.commands), micros: [] });
      }
      for (let turn = 0; turn < ROUNDS && Date.now() < deadlineMs; turn++) {
        for (const { replay, traded, micros } of sides)
          micros.push((await replay.next()) / traded.ordersOfRound);
      }
      for (const { replay, traded } of sides) await replay.check(traded.totals);
      const oneOf = (of: ShardCount) =>
        sides.find((side) => side.count === 1 && side.of === of)?.micros ?? [];
      for (const side of sides.filter(({ count, of }) => count === of))
        emit(rowOf(side, reservedPercent, oneOf(1), oneOf(side.of)));
    } finally {
      for (const { replay } of sides) await replay.stop();
    }
  }
}

async function tradeOn(count: ShardCount, reservedPercent: number, of: ShardCount): Promise<Traded> {
  const world = await openWorld(count, reservedPercent, of);
  try {
    return await world.trade();
  } finally {
    await world.stop();
  }
}

function rowOf(
  { count, traded, micros }: Side,
  reservedPercent: number,
  oneMicros: readonly number[],
  alikeMicros: readonly number[],
): ShardsRow {
  const { localMs, pulledMs, transfers } = traded;
  const orders = localMs.length + pulledMs.length;
  const cost = median(micros);
  const ratioOf = (of: readonly number[]): number =>
    round(median(micros.map((own, turn) => (of[turn] ?? 0) / own)), 3);
  return {
    ...{ suite: 'shards', shards: count, reservedPercent, orders },
    redisMicros: round(cost),
    ...{ ofOne: ratioOf(oneMicros), ofAlike: ratioOf(alikeMicros) },
    transfersPerOrder: round(transfers / orders, 4),
    pulledPart: round(pulledMs.length / orders, 4),
    localP99Ms: round(quantile(localMs, 0.99)),
    pulledP99Ms: round(quantile(pulledMs, 0.99)),
  };
}
