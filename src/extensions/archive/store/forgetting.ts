import { randomInt } from 'node:crypto';
import { MODES } from '../../../exchange/status';
import { ARCHIVE_READER } from '../../../store/health/layout';
import { createLease, type Lease } from '../../../store/outbox/lease';
import { ORDER_CHANGES, SETTLEMENT, STREAM_PLACE } from '../../../store/records/layout';
import { countFills } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { Archive, Batch } from '../archive';
import { conflictOf } from './answers';
import {
  batchOf,
  type Leaving,
  type LeavingLines,
  type LeavingMatches,
  NONE_LEAVING,
  type SettledMatch,
  type StoredOrder,
} from './leaving';

interface ForgettingOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly archive: Archive;
  /** How long orders stay in Redis after their end, and matches and lines after their time. */
  readonly keepMs?: number;
}

/** The right to archive is another process's now, or nothing may be forgotten now: begin again. */
export class Fenced extends Error {}
/** The archive and the orders that have left Redis do not fit. */
class ArchiveMismatch extends Error {}

/** How much left. */
export interface Gone {
  orders: number;
  matches: number;
  lines: number;
}

/** The holder of the lease, and the number of the batch that the archive has. */
interface Forgetter {
  readonly token: string;
  readonly number: number;
}

export interface Forgetting {
  readonly lease: Lease;
  /**
   * Before the first `move` of a holder of the lease: afterwards the archive has nothing that Redis has not forgotten. Throws Fenced,
   * also while the exchange is HALTED.
   */
  open(): Promise<void>;
  /** Adds what is over to the archive, and takes it out of Redis, batch by batch. Throws Fenced. */
  move(token: string, leaving: Partial<Leaving>): Promise<Gone>;
  /** Adds the next batch to the archive. Returns its number, under which it may be forgotten. Throws Fenced. */
  commit(rows: Batch): Promise<number>;
  /** Deletes the traces of markets that are at an end. */
  dropTraces(): Promise<void>;
  /** Ends a `move` that waits for the archive. The next holder takes back the batches that it committed and did not forget. */
  breakOff(): void;
}

/** How long an order stays in Redis after its end: `ABSENT_MS` of lua/lib/known.lua must be shorter. */
export const KEEP_MS = 60_000;
/** When they are looked at: a process knows the clock of Redis only about, and what a script finds too young stays until a sweep. */
export const PICK_MS = KEEP_MS + 1_000;
/** The factor that chooses the buckets of a market's traces (lua/lib/traces.lua). */
const drawnFactor = (): number => randomInt(2, 2 ** 20);
/** The most of one call; each script has its own bound, and no call takes Redis 5 ms. */
const ORDERS_STEP = 45;
const [MATCHES_STEP, FILLS_STEP] = [40, 500];
const [WALLETS_STEP, LINES_STEP] = [60, 600];
/** The most of one batch: matches, orders, lines. */
const BATCH_MAX = [1_000, 2_000, 2_000] as const;
const BUCKETS_STEP = 100;
const HALTED = String(MODES.indexOf('HALTED'));
const MARKETS_STEP = 500;

/**
 * Moves orders, matches with their settlements, and lines of journals from Redis into the archive, in batches with numbers. The
 * archive takes a batch in one transaction, and only the next one; then Redis forgets it and notes its number, with the first call.
 * So a batch behind the noted number is one of which nothing was forgotten: a new holder of the lease deletes it there and begins
 * again. It holds for a Redis that lost its latest writes, and for one that was put back from a backup, too.
 */
export function createForgetting({
  redis,
  run,
  keys,
  archive,
  keepMs = KEEP_MS,
}: ForgettingOptions): Forgetting {
  const held = createLease({ redis, run, keys }, 'archive', keys.archiveLease);
  let batch = 0;
  let taken: string | null = null;
  /** By performance.now(). */
  let heldUntilMs = 0;
  async function holds(asked: Promise<boolean>, lifeMs: number): Promise<boolean> {
    const untilMs = performance.now() + lifeMs;
    const isHeld = await asked;
    if (isHeld) heldUntilMs = untilMs;
    return isHeld;
  }
  const lease: Lease = {
    ...held,
    async take(token, lifeMs) {
      const isTaken = await holds(held.take(token, lifeMs), lifeMs);
      if (isTaken) taken = token;
      return isTaken;
    },
    renew: (token, lifeMs, position) => holds(held.renew(token, lifeMs, position), lifeMs),
  };

  /** After a pause longer than its lease a process forgets nothing: the Redis may be another one, whose clock is behind and has it still. */
  function checkHeld(): void {
    if (performance.now() >= heldUntilMs) throw new Fenced();
  }

  async function open(): Promise<void> {
    if ((await redis.get(keys.mode)) === HALTED) throw new Fenced();
    const noted = await redis.hget(keys.archive, 'id');
    const state = await archive.open();
    const conflict = conflictOf(state, noted);
    if (conflict !== null) throw new ArchiveMismatch(conflict);
    const id = await run('open_archive', [keys.archive, keys.layout], [state.id, ARCHIVE_READER]);
    if (id.toString() !== state.id)
      throw new ArchiveMismatch('the orders that left Redis are in another archive than that of ARCHIVE_URL');
    // Asked behind archive.open: who held the lease before forgets nothing any more, and who takes it from now on opens the archive
    // first. So until cutBack the noted number stays as it is, or cutBack does nothing.
    const isHolder = taken !== null && (await redis.get(keys.archiveLease)) === taken;
    batch = Number(await redis.hget(keys.archive, 'n'));
    if (state.batch < batch)
      throw new ArchiveMismatch(
        `the archive ends with batch ${state.batch}, and orders of batch ${batch} left Redis: put back a newer copy of it`,
      );
    if (!isHolder || (await archive.cutBack(batch)) === null) throw new Fenced();
  }

  async function commit(rows: Batch): Promise<number> {
    if (!(await archive.append(batch + 1, rows))) throw new Fenced();
    return ++batch;
  }

  /** While Redis forgets a batch, the archive takes the next one. */
  async function move(token: string, some: Partial<Leaving>): Promise<Gone> {
    const gone = { orders: 0, matches: 0, lines: 0 };
    let forgetting: Promise<void> = Promise.resolve();
    try {
      for (const part of batchesOf({ ...NONE_LEAVING, ...some })) {
        const number = await commit(batchOf(part));
        await forgetting;
        forgetting = forget({ token, number }, part, gone);
        // It is awaited behind the next commit, which may take longer.
        forgetting.catch(() => undefined);
      }
    } finally {
      await forgetting;
    }
    return gone;
  }

  /** Orders leave after their matches. */
  async function forget(by: Forgetter, { markets, orders, journals }: Leaving, gone: Gone): Promise<void> {
    await inTurn(markets, checkHeld, async (part) => {
      gone.matches += await left(forgetMatches(by, part));
    });
    await inTurn(orderSteps(orders), checkHeld, async (part) => {
      gone.orders += await left(forgetOrders(by, part));
    });
    await inTurn(journalSteps(journals), checkHeld, async (part) => {
      gone.lines += await left(forgetLines(by, part));
    });
  }

  const forgetMatches = (
    { token, number }: Forgetter,
    { marketId, matches }: LeavingMatches,
  ): Promise<number> =>
    run(
      'forget_matches',
      [
        ...([keys.market(marketId), keys.trades(marketId), keys.settlementListOf(marketId)] as const),
        ...([keys.settlements, keys.settlementList, keys.archive, keys.archiveLease] as const),
        ...([keys.mode, keys.settledUpTo, keys.candleMarks] as const),
      ],
      [marketId, token, number, keepMs, ...matches.flatMap(matchArguments)],
    );

  const forgetOrders = ({ token, number }: Forgetter, orders: readonly StoredOrder[]): Promise<number> =>
    run(
      'forget_orders',
      [keys.orders, keys.archive, keys.archiveLease, keys.cash, keys.mode, keys.forgotten],
      [keys.prefix, token, number, keepMs, drawnFactor(), ...orders.flatMap(orderArguments)],
    );

  const forgetLines = ({ token, number }: Forgetter, journals: readonly LeavingLines[]): Promise<number> =>
    run(
      'forget_lines',
      [keys.archive, keys.archiveLease, keys.mode, keys.forgotten],
      [keys.prefix, token, number, keepMs, ...journals.flatMap(lineArguments)],
    );

  async function dropTraces(): Promise<void> {
    const ids = await redis.hkeys(keys.markets);
    for (let from = 0; from < ids.length; from += MARKETS_STEP) {
      const part = ids.slice(from, from + MARKETS_STEP);
      const traced = await Promise.all(part.map((id) => redis.hexists(keys.market(id), 'g')));
      for (const id of part.filter((_, i) => traced[i] === 1)) {
        while ((await run('forget_traces', [keys.market(id)], [BUCKETS_STEP])) === 1);
      }
    }
  }

  return { lease, open, move, commit, dropTraces, breakOff: archive.breakOff };
}

const orderArguments = ({ hash, packed }: StoredOrder): [Buffer, Buffer] => [
  hash,
  packed.subarray(-ORDER_CHANGES.bytes),
];

function matchArguments({ tradeMs, sequence, settlements }: SettledMatch): [Buffer, Buffer] {
  const heads = settlements.map((record) => record.subarray(0, SETTLEMENT.bytes));
  return [STREAM_PLACE.pack({ tradeMs, sequence }), Buffer.concat(heads)];
}

const lineArguments = ({ wallet, from, lines }: LeavingLines): [Buffer, number, number, Buffer] => [
  ...([wallet, from, lines.length, Buffer.concat(lines)] as const),
];

/** Cuts a list into parts, each with a maximum number of members and a maximum size, except for a single one. */
function cut<T>(list: readonly T[], most: number, size: (member: T) => number, sizeMost: number): T[][] {
  const parts: T[][] = [];
  let sum = 0;
  for (const member of list) {
    const part = parts.at(-1);
    sum += size(member);
    if (part && part.length < most && sum <= sizeMost) part.push(member);
    else {
      parts.push([member]);
      sum = size(member);
    }
  }
  return parts;
}

const orderSteps = (orders: readonly StoredOrder[]): StoredOrder[][] =>
  cut(orders, ORDERS_STEP, () => 1, ORDERS_STEP);

/** One after the other: Redis runs all commands that a connection has sent before it looks at another connection. */
async function inTurn<Part>(
  parts: readonly Part[],
  check: () => void,
  act: (part: Part) => Promise<void>,
): Promise<void> {
  for (const part of parts) {
    check();
    await act(part);
  }
}

/** How many left by a call. Throws Fenced when none may leave. */
async function left(call: Promise<number>): Promise<number> {
  const count = await call;
  if (count < 0) throw new Fenced();
  return count;
}

/** The batches of what leaves; no order is in one before the last match. */
function batchesOf({ markets, orders, journals }: Leaving): Leaving[] {
  const [matchesMost, ordersMost, linesMost] = BATCH_MAX;
  const size = ({ matches }: LeavingMatches): number => matches.length;
  const m = cut(markets.flatMap(stretchesOf), matchesMost, size, matchesMost);
  const o = cut(orders, ordersMost, () => 1, ordersMost);
  const j = cut(journals, linesMost, ({ lines }) => lines.length, linesMost);
  const first = Math.max(0, m.length - 1);
  const count = Math.max(m.length, o.length === 0 ? 0 : first + o.length, j.length);
  return Array.from({ length: count }, (_, i) => ({
    markets: m[i] ?? [],
    orders: o[i - first] ?? [],
    journals: j[i] ?? [],
  }));
}

const stretchesOf = ({ marketId, matches }: LeavingMatches): LeavingMatches[] =>
  cut(matches, MATCHES_STEP, ({ packed }) => countFills(packed), FILLS_STEP).map((part) => ({
    marketId,
    matches: part,
  }));

const journalSteps = (journals: readonly LeavingLines[]): LeavingLines[][] =>
  cut(journals.flatMap(pieces), WALLETS_STEP, ({ lines }) => lines.length, LINES_STEP);

/** A journal of more lines than one call takes, in several. */
const pieces = ({ wallet, from, lines }: LeavingLines): LeavingLines[] =>
  Array.from({ length: Math.ceil(lines.length / LINES_STEP) }, (_, i) => ({
    wallet,
    from: from + i * LINES_STEP,
    lines: lines.slice(i * LINES_STEP, (i + 1) * LINES_STEP),
  }));
