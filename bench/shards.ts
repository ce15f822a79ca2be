import type { ShardCount } from '../src/store/redis/tags';
import { median, quantile, round } from './figures';
import { openReplay, type Replay } from './replay';
import { type Open, ORDERS_OF_SLICE, openWorld, ROUNDS, SLICES_OF_ROUND, type Traded } from './shards-world';
import { type Size, sizes } from './size';

/**
 * The CPU time of an order at the masters of 2, 4 and 8 shards, beside one. The masters would share two processors here, so their costs
 * are not measured while they trade together. First the exchange trades on a cluster with a master for each shard, and the
 * commands that each shard gets are written down: orders, cancels, and what brings collateral to another shard. Then each shard's
 * commands are sent to a master that has a processor to itself, as many at a time for every number of shards. The CPU time is
 * that of the main threads of all masters for one order, with its cancel and its part of the transfers.
 *
 * Each number of shards is compared with one shard that carries the same trade: these wallets, and all of their open orders. An
 * order costs more in a larger shard, because more accounts and deeper books fill more of the processor's caches, so there are two
 * other comparisons: with one shard that has as many wallets and of the open orders as many as each of these masters, and with one
 * that has the wallets of a single master.
 */
export interface ShardsRow {
  readonly suite: 'shards';
  readonly shards: number;
  readonly reservedPercent: number;
  readonly orders: number;
  readonly redisMicros: number;
  /** The CPU time of an order in one shard that carries the same trade, divided by this: the median of the rounds. */
  readonly ofSame: number;
  /** The same of one shard with as many wallets and open orders as each of these masters. */
  readonly ofAlike: number;
  /** The same of one shard with the wallets of one master. */
  readonly ofOne: number;
  /** Transfers for each order, and the part of the orders that needed one. */
  readonly transfersPerOrder: number;
  readonly pulledPart: number;
  readonly localP99Ms: number;
  readonly pulledP99Ms: number;
}

const COUNTS = sizes<readonly ShardCount[]>([2], [2, 4, 8]);
const RESERVED_PERCENTS = sizes([60], [60, 90]);

interface SideOf {
  readonly count: ShardCount;
  /** The number of shards whose wallets it has. */
  readonly of: ShardCount;
  readonly open: Open;
}

/** Shards, and the single shards that they are compared with. */
const sidesOf = (count: ShardCount) =>
  ({
    own: { count, of: count, open: 'all' },
    one: { count: 1, of: 1, open: 'all' },
    alike: { count: 1, of: count, open: 'part' },
    same: { count: 1, of: count, open: 'all' },
  }) satisfies Record<string, SideOf>;
type Role = keyof ReturnType<typeof sidesOf>;

interface Side {
  readonly traded: Omit<Traded, 'commands'>;
  readonly replay: Replay;
  /** Cost of an order in each round. */
  readonly micros: number[];
}
type Sides = Readonly<Record<Role, Side>>;

export async function benchShards(
  size: Size,
  deadlineMs: number,
  emit: (row: ShardsRow) => void,
): Promise<void> {
  for (const reservedPercent of RESERVED_PERCENTS[size]) {
    for (const count of COUNTS[size]) {
      const sides = new Map<Role, Side>();
      try {
        for (const [role, { count: masters, of, open }] of Object.entries(sidesOf(count))) {
          // Commands that were sent are let go: those of one side fill half a gigabyte.
          const { commands, ...traded } = await tradeOn(size, masters, reservedPercent, of, open);
          sides.set(role as Role, { traded, replay: await openReplay(commands), micros: [] });
        }
        for (let turn = 0; turn < ROUNDS[size] && Date.now() < deadlineMs; turn++)
          await playRound([...sides.values()], ORDERS_OF_SLICE[size]);
        for (const { replay, traded } of sides.values()) await replay.check(traded.totals);
        const all = Object.fromEntries(sides) as unknown as Sides;
        if (count === COUNTS[size][0])
          emit(rowOf(1, reservedPercent, { ...all, own: all.one, alike: all.one, same: all.one }));
        emit(rowOf(count, reservedPercent, all));
      } finally {
        for (const { replay } of sides.values()) await replay.stop();
      }
    }
  }
}

/** All take turns, slice by slice: what disturbs the machine for longer than that disturbs all of them. */
async function playRound(sides: readonly Side[], ordersOfSlice: number): Promise<void> {
  const sums = sides.map(() => 0);
  for (let slice = 0; slice < SLICES_OF_ROUND; slice++)
    for (const [i, { replay }] of sides.entries()) sums[i] = (sums[i] ?? 0) + (await replay.next());
  for (const [i, { micros }] of sides.entries())
    micros.push((sums[i] ?? 0) / (SLICES_OF_ROUND * ordersOfSlice));
}

async function tradeOn(
  size: Size,
  count: ShardCount,
  reservedPercent: number,
  of: ShardCount,
  open: Open,
): Promise<Traded> {
  const world = await openWorld(size, count, reservedPercent, of, open);
  try {
    return await world.trade();
  } finally {
    await world.stop();
  }
}

function rowOf(shards: number, reservedPercent: number, { own, ...ones }: Sides): ShardsRow {
  const { localMs, pulledMs, orders, pulled, transfers } = own.traded;
  const ratioOf = ({ micros }: Side): number =>
    round(median(own.micros.map((one, turn) => (micros[turn] ?? 0) / one)), 3);
  return {
    suite: 'shards',
    shards,
    reservedPercent,
    orders,
    redisMicros: round(median(own.micros)),
    ofSame: ratioOf(ones.same),
    ofAlike: ratioOf(ones.alike),
    ofOne: ratioOf(ones.one),
    transfersPerOrder: round(transfers / orders, 4),
    pulledPart: round(pulled / orders, 4),
    localP99Ms: round(quantile(localMs, 0.99)),
    pulledP99Ms: round(quantile(pulledMs, 0.99)),
  };
}
