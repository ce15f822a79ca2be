import { Redis } from 'ioredis';
import { startSettlement } from '../src/jobs/settlement';
import { createLease } from '../src/store/outbox/lease';
import { settlementName } from '../src/store/records/settlement';
import { type Operating, startOperating } from '../test/extensions/chain/operating';
import { SCALE } from '../test/extensions/chain/operator';
import { ONE, type Trader } from '../test/extensions/chain/world';
import { sleep } from '../test/support/waiting';
import { round } from './figures';
import { atLeast, atMost, type Line, lineOf } from './line';
import { type Size, sizes } from './size';

/**
 * Settlement on a local chain with the block time and the finality of BSC: from the reply to an order that matches to its
 * CONFIRMED record, and the matches that are settled in a second when there are always more. Exchange, relay, observer and
 * operator share one process; the orders are signed before.
 */
export interface SettleRow {
  readonly op: 'latency' | 'sustained';
  readonly matches: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly matchesPerSecond: number;
  readonly transactions: number;
}

const BLOCK_MS = 450;
const TRADERS = 12;
/** Enough for every order of a run. */
const CASH = 100_000n * ONE;
const CALM = sizes(
  { matches: 10, everyMs: 50 },
  { matches: 200, everyMs: 100 },
  { matches: 1_000, everyMs: 50 },
);
const FLOOD = sizes(50, 3_000, 12_000);
const AT_ONCE = 8;
const LOOK_MS = 20;
const DRAIN_MS = 120_000;
const CONFIRMED = 2;

export async function benchSettle(size: Size, emit: (row: SettleRow) => void): Promise<void> {
  const world = await startOperating({ lanes: 2, blockMs: BLOCK_MS });
  const connection = new Redis(world.server.url, { maxRetriesPerRequest: null });
  const { keys, matches, settlements, clock, terms } = world;
  const settlement = startSettlement({
    connection,
    matches,
    settlements,
    scale: SCALE,
    funds: 'chain',
    relayLease: createLease(world, 'settlement', keys.relayLease),
    reads: { market: async () => ({ terms }) as never, clock: clock.now },
    onError: (error, what) => process.stderr.write(`${what}: ${error.message}\n`),
  });
  try {
    const traders = await tradersOf(world);
    world.operate([0, 1]);
    const { matches: calm, everyMs } = CALM[size];
    // The first matches write to storage that is empty.
    await measure(world, 'latency', await pairs(world, traders, AT_ONCE), everyMs);
    emit(await measure(world, 'latency', await pairs(world, traders, calm), everyMs));
    emit(await measure(world, 'sustained', await pairs(world, traders, FLOOD[size]), 0));
    if (world.errors.length > 0) process.stderr.write(`${world.errors.slice(0, 10).join('\n')}\n`);
  } finally {
    await settlement.stop();
    connection.disconnect();
    await world.stop();
  }
}

async function tradersOf(world: Operating): Promise<Trader[]> {
  const traders: Trader[] = [];
  for (let n = 0; n < TRADERS; n++) traders.push(await world.trader(CASH, CASH));
  return traders;
}

type Pair = readonly [maker: ReturnType<Operating['order']>, taker: ReturnType<Operating['order']>];

async function pairs({ order }: Operating, traders: readonly Trader[], count: number): Promise<Pair[]> {
  const at = (n: number): Trader => traders[n % traders.length] as Trader;
  return Array.from(
    { length: count },
    (_, n): Pair => [order(at(n), 0, 6_000, 10, 1), order(at(n + 1), 0, 6_000, 10)],
  );
}

async function measure(
  world: Operating,
  op: SettleRow['op'],
  list: readonly Pair[],
  everyMs: number,
): Promise<SettleRow> {
  const { engine, redis, keys, terms } = world;
  const waiting = new Map<number, number>();
  const tookMs: number[] = [];
  const nonces = async () => (await world.intents.lanes()).reduce((sum, { nextNonce }) => sum + nextNonce, 0);
  const before = await nonces();
  const startedAt = performance.now();
  let [next, placing] = [0, true];
  async function place(): Promise<void> {
    for (let pair = list[next++]; pair; pair = list[next++]) {
      const dueMs = everyMs === 0 ? 0 : startedAt + (next - 1) * everyMs - performance.now();
      if (dueMs > 0) await sleep(dueMs);
      await engine.place(pair[0]);
      const { record } = await engine.place(pair[1]);
      waiting.set(record.sequence, performance.now());
    }
  }
  async function look(): Promise<void> {
    const until = startedAt + list.length * everyMs + DRAIN_MS;
    while ((placing || waiting.size > 0) && performance.now() < until) {
      const sequences = [...waiting.keys()].slice(0, 5_000);
      const names = sequences.map((sequence) => settlementName({ marketId: terms.id, sequence, part: 0 }));
      const found = names.length === 0 ? [] : await redis.hmgetBuffer(keys.settlements, ...names);
      const now = performance.now();
      for (const [i, sequence] of sequences.entries()) {
        if (found[i]?.[0] !== CONFIRMED) continue;
        tookMs.push(now - (waiting.get(sequence) ?? now));
        waiting.delete(sequence);
      }
      await sleep(LOOK_MS);
    }
  }
  const placed = Promise.all(Array.from({ length: everyMs === 0 ? AT_ONCE : 1 }, place)).then(() => {
    placing = false;
  });
  await Promise.all([placed, look()]);
  const seconds = (performance.now() - startedAt) / 1_000;
  tookMs.sort((a, b) => a - b);
  const at = (part: number): number => round(tookMs[Math.floor(tookMs.length * part)] ?? Number.NaN);
  return {
    op,
    matches: tookMs.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    matchesPerSecond: round(tookMs.length / seconds),
    transactions: (await nonces()) - before,
  };
}

const suite = 'settle';
const P50_MS = 1_500;
const P99_MS = 4_000;
const PER_SECOND = 200;

export const settleLines = (rows: readonly SettleRow[]): Line[] =>
  rows.flatMap((row) =>
    row.op === 'sustained'
      ? lineOf({
          suite,
          what: `BUY against SELL settled on a local chain, in ${row.transactions} transactions`,
          figure: row.matchesPerSecond,
          unit: 'matches/s',
          target: atLeast(PER_SECOND),
        })
      : (['p50Ms', 'p99Ms'] as const).map((part) =>
          lineOf({
            suite,
            what: `match to CONFIRMED, ${part.slice(0, 3)}`,
            figure: row[part],
            unit: 'ms',
            target: atMost(part === 'p50Ms' ? P50_MS : P99_MS),
          }),
        ),
  );
