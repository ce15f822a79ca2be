import { partsOf } from '../../../src/exchange/settlement';
import type { Batch } from '../../../src/extensions/archive/archive';
import { createArchivedReads } from '../../../src/extensions/archive/store/archived-reads';
import { createForgetting, type Forgetting } from '../../../src/extensions/archive/store/forgetting';
import { isOver, ordersOf, type SettledMatch } from '../../../src/extensions/archive/store/leaving';
import { openSource, type Source } from '../../../src/extensions/archive/store/source';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import type { ArchivedReads } from '../../../src/store/lists/archived-reads';
import {
  addressBytes,
  countFills,
  decodeFills,
  decodeOrder,
  hashHex,
} from '../../../src/store/records/order';
import { settlementName } from '../../../src/store/records/settlement';
import type { Keys } from '../../../src/store/redis/keys';
import type { RedisClient, RunScript } from '../../../src/store/redis/scripts';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements, type Settlements } from '../../../src/store/settlement/settlements';
import { createLeavingWorld, type LeavingStore, settlementsOf } from '../../extensions/archive/leaving-world';
import { createMemoryArchive, type MemoryArchive } from '../../support/memory-archive';
import { READERS } from '../../support/readers';
import { check } from './check';
import { createLeftChecks } from './left-checks';
import type { SideBySide } from './side-by-side';
import type { StoredState, Wanted } from './stored';

const TOKEN = 'the fuzz';
const LEASE_MS = 3_600_000;
/** The number of operations during which everything that is over gathers. */
const EVERY = 5;
/** Passes of the archive in one of these steps; a pass that finds nothing ends it. */
const PASSES_MAX = 50;
/** One in this number of batches is added and its answer lost: the next holder of the lease takes it back. */
const LOST_EVERY = 7;

class Lost extends Error {}

/**
 * Everything that is over leaves Redis at once: matches with their settlements, orders, lines of journals. The model is compared
 * with Redis and the archive together.
 */
export interface Oblivion {
  readonly archivedReads: ArchivedReads;
  /** After an operation. */
  forget(stage: SideBySide): Promise<void>;
  /** How many orders of a wallet, of this rank or a higher one, have left. */
  above(wallet: string, rank: number): number;
  /** The state read from Redis, with everything that has left it. */
  whole(stored: StoredState, wanted: Wanted): StoredState;
}

/** `isLate` plants an archive that says that a batch is there before it is. */
export function createOblivion(redis: RedisClient, run: RunScript, keys: Keys, isLate = false): Oblivion {
  const archive = createMemoryArchive();
  const archivedReads = createArchivedReads({ redis, keys, archive });
  const store = { redis, run, keys };
  const settlements = createSettlements({ ...store, archivedReads });
  const matches = createMatches({ ...store, settlements, archivedReads });
  const journal = createJournal({ ...store, matches, doubts: () => 0 });
  const losing = isLate ? lateArchive(archive) : losingArchive(archive);
  const checks = createLeftChecks(store, archive);
  let holder: { readonly forgetting: Forgetting; readonly source: Source } | null = null;
  let [steps, settled] = [0, 0];

  /** All other readers of the outbox do their work. Nothing may leave before. */
  async function follow({ marketIds, now }: SideBySide, forgetting: Forgetting): Promise<void> {
    await journal.catchUp();
    const world = createLeavingWorld(store, archive, now, 0);
    const before = await redis.xlen(keys.outbox);
    for (const id of marketIds) {
      await settlements.record((await world.met(id)).flatMap(settlementsOf), 'CONFIRMED');
      const marks = [world.mark, world.count] as const;
      // One of the two marks is behind.
      const [first, second] = steps % (2 * EVERY) === 0 ? marks : marks.toReversed();
      await first?.(id);
      await tempt(id, forgetting);
      await second?.(id);
    }
    settled += (await redis.xlen(keys.outbox)) - before;
    const [latest] = await redis.xrevrange(keys.outbox, '+', '-', 'COUNT', 1);
    const position = latest?.[0] ?? '0-0';
    await redis.hset(keys.readers, Object.fromEntries(READERS.map((reader) => [reader, position])));
  }

  /** Tries the next match of a market that may not leave, and the orders in it. */
  async function tempt(marketId: string, forgetting: Forgetting): Promise<void> {
    const [next] = await nextMatches(store, settlements, marketId);
    if (!next) return;
    const hashes = ordersOf(next.packed);
    const packed = await redis.hmgetBuffer(keys.orders, ...hashes);
    const orders = hashes.flatMap((hash, i) => {
      const found = packed[i];
      return found && isOver(found, Number.MAX_SAFE_INTEGER, () => next) ? [{ hash, packed: found }] : [];
    });
    const gone = await losing.keeping(() =>
      forgetting.move(TOKEN, { markets: [{ marketId, matches: [next] }], orders }),
    );
    check('left before it may', '0 matches, 0 orders', `${gone.matches} matches, ${gone.orders} orders`);
  }

  async function open(stage: SideBySide) {
    const forgetting = createForgetting({ ...store, archive: losing.archive, keepMs: 0 });
    await forgetting.lease.take(TOKEN, LEASE_MS);
    await forgetting.open();
    return {
      forgetting,
      source: await openSource({ redis, keys, readers: READERS, now: stage.now, keepMs: 0 }),
    };
  }

  async function forget(stage: SideBySide): Promise<void> {
    // A walk that is under way begins again when an order leaves before its place, and the model's does not.
    if (++steps % EVERY !== 0 || stage.sweeps.size > 0 || stage.model.mode() === 'HALTED') return;
    holder ??= await open(stage);
    await follow(stage, holder.forgetting);
    await checks.note(stage.ledger.addresses);
    let pass = 0;
    while (await isLeaving(stage)) check('passes of the archive', true, ++pass < PASSES_MAX);
    await checks.checkAll(stage);
    stage.memory.clear();
  }

  async function isLeaving(stage: SideBySide): Promise<boolean> {
    holder ??= await open(stage);
    const { forgetting, source } = holder;
    const found = await source.next();
    const { orders, markets, journals } = found.leaving;
    const met = markets.reduce((sum, market) => sum + market.matches.length, 0);
    const lines = journals.reduce((sum, one) => sum + one.lines.length, 0);
    try {
      const gone = await forgetting.move(TOKEN, found.leaving);
      check('orders that left', orders.length, gone.orders);
      check('matches that left', met, gone.matches);
      check('lines that left', lines, gone.lines);
      for (const [kind, count] of Object.entries(gone)) if (count > 0) stage.count(`left: ${kind}`);
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      stage.count('a batch was lost');
      holder = null;
      return true;
    }
    await source.done(found);
    return found.more || orders.length + met + lines > 0;
  }

  function whole(stored: StoredState, { hashes, wallets, markets }: Wanted): StoredState {
    const rows = [...archive.rows.values()];
    const met = [...archive.met.values()];
    return {
      ...stored,
      outboxLength: stored.outboxLength - settled,
      orderCount: stored.orderCount + rows.length,
      records: stored.records.map((record, i) => {
        const row = archive.rows.get((hashes[i] ?? '').slice(2));
        return record ?? (row ? decodeOrder(hashes[i] ?? '', row.record) : null);
      }),
      markets: stored.markets.map((market, i) => {
        const own = met.filter(({ marketId }) => marketId === markets[i]);
        const last = own.at(-1);
        if (!last) return market;
        return {
          ...market,
          matches: market.matches + own.length,
          lastMatch:
            market.matches > 0 ? market.lastMatch : decodeFills(last.tradeMs, last.sequence, last.packed),
        };
      }),
      wallets: stored.wallets.map((wallet, i) => {
        const gone = rows.filter((row) => hashHex(row.wallet) === wallets[i]).length;
        return gone === 0 ? wallet : { ...wallet, orders: wallet.orders + gone };
      }),
    };
  }

  const above = (wallet: string, rank: number): number =>
    [...archive.rows.values()].filter((row) => row.wallet.equals(addressBytes(wallet)) && row.rank >= rank)
      .length;

  return { above, archivedReads, forget, whole };
}

/** Loses answers, but not while something is tried that may not leave. */
function losingArchive(archive: MemoryArchive) {
  let [appended, isKeeping] = [0, false];
  return {
    archive: {
      ...archive,
      async append(batch: number, rows: Batch): Promise<boolean> {
        const done = await archive.append(batch, rows);
        if (!isKeeping && ++appended % LOST_EVERY === 0) throw new Lost();
        return done;
      },
    },
    async keeping<T>(act: () => Promise<T>): Promise<T> {
      isKeeping = true;
      try {
        return await act();
      } finally {
        isKeeping = false;
      }
    },
  };
}

/** Adds a batch when the next one comes. */
function lateArchive(archive: MemoryArchive) {
  let waiting: readonly [batch: number, rows: Batch] | null = null;
  return {
    archive: {
      ...archive,
      async append(batch: number, rows: Batch): Promise<boolean> {
        const done = waiting === null || (await archive.append(...waiting));
        waiting = [batch, rows];
        return done;
      },
    },
    keeping: <T>(act: () => Promise<T>) => act(),
  };
}

/** The first match in Redis, with the records of its settlement as they are. */
async function nextMatches(
  { redis, keys }: LeavingStore,
  settlements: Pick<Settlements, 'packed'>,
  marketId: string,
): Promise<SettledMatch[]> {
  const entries = await redis.xrangeBuffer(keys.trades(marketId), '-', '+', 'COUNT', 1);
  return Promise.all(
    entries.map(async ([id, fields]) => {
      const [tradeMs = 0, sequence = 0] = id.toString().split('-').map(Number);
      const packed = fields[1] as Buffer;
      const names = Array.from({ length: partsOf(countFills(packed)) }, (_, part) =>
        settlementName({ marketId, sequence, part }),
      );
      const records = await settlements.packed(names);
      return { tradeMs, sequence, packed, settlements: records.flatMap((record) => record ?? []) };
    }),
  );
}
