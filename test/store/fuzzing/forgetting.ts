import { createForgetting } from '../../../src/store/archive/forgetting';
import { createPast, type Past } from '../../../src/store/archive/past';
import { openSource, type Source } from '../../../src/store/archive/source';
import { createJournal } from '../../../src/store/journal/journal';
import { READERS } from '../../../src/store/outbox/outbox';
import { addressBytes, decodeFills, decodeOrder, hashHex } from '../../../src/store/records/order';
import type { ShardKeys } from '../../../src/store/redis/keys';
import type { RedisClient, RunScript } from '../../../src/store/redis/scripts';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements } from '../../../src/store/settlement/settlements';
import { createLeavingWorld } from '../../archive/leaving-world';
import { createMemoryArchive } from '../../support/memory-archive';
import { check } from './check';
import { createLeftChecks } from './left-checks';
import type { SideBySide } from './side-by-side';
import type { StoredState, Wanted } from './stored';

const TOKEN = 'the fuzz';
const LEASE_MS = 3_600_000;
/** Everything that is over gathers for so many operations. */
const EVERY = 5;
/** Passes of the archive in one of these steps; a pass that finds nothing ends it. */
const PASSES_MAX = 50;

/**
 * Everything that is over leaves Redis at once: matches with their settlements, orders, lines of journals. What is compared with the
 * model is Redis and the archive together.
 */
export interface Oblivion {
  readonly past: Past;
  /** After an operation. */
  forget(stage: SideBySide): Promise<void>;
  /** How many orders of a wallet, of this rank or a higher one, have left. */
  above(wallet: string, rank: number): number;
  /** The state read from Redis, with everything that has left it. */
  whole(stored: StoredState, wanted: Wanted): StoredState;
}

export function createOblivion(redis: RedisClient, run: RunScript, keys: ShardKeys): Oblivion {
  const archive = createMemoryArchive();
  const past = createPast({ redis, keys, archive });
  const store = { redis, run, keys };
  const settlements = createSettlements({ ...store, past });
  const matches = createMatches({ ...store, settlements, past });
  const journal = createJournal({ ...store, matches, doubts: () => 0 });
  const forgetting = createForgetting({ ...store, archive, keepMs: 0 });
  const checks = createLeftChecks(store, archive);
  let source: Source | null = null;
  let [steps, settled] = [0, 0];

  /** All other readers of the outbox have done their work. */
  async function follow({ marketIds, now }: SideBySide): Promise<void> {
    await journal.catchUp();
    const world = createLeavingWorld(store, archive, now, 0);
    const before = await redis.xlen(keys.outbox);
    for (const id of marketIds) {
      await world.settle(id);
      await world.count(id);
    }
    settled += (await redis.xlen(keys.outbox)) - before;
    const [latest] = await redis.xrevrange(keys.outbox, '+', '-', 'COUNT', 1);
    const position = latest?.[0] ?? '0-0';
    await redis.hset(keys.readers, Object.fromEntries(READERS.map((reader) => [reader, position])));
  }

  async function forget(stage: SideBySide): Promise<void> {
    // A walk that is under way begins again when an order leaves before its place, and the model's does not.
    if (++steps % EVERY !== 0 || stage.sweeps.size > 0 || stage.model.mode() === 'HALTED') return;
    await follow(stage);
    if (!source) {
      await forgetting.lease.take(TOKEN, LEASE_MS);
      await forgetting.open();
      source = await openSource({ redis, keys, now: stage.now, keepMs: 0 });
    }
    await checks.note(stage.ledger.addresses);
    for (let pass = 0; ; pass++) {
      check('passes of the archive', true, pass < PASSES_MAX);
      const found = await source.next();
      const gone = await forgetting.move(TOKEN, found.leaving);
      await source.done(found);
      const { orders, markets, journals } = found.leaving;
      const met = markets.reduce((sum, market) => sum + market.matches.length, 0);
      const lines = journals.reduce((sum, one) => sum + one.lines.length, 0);
      check('orders that left', orders.length, gone.orders);
      check('matches that left', met, gone.matches);
      check('lines that left', lines, gone.lines);
      for (const [kind, count] of Object.entries(gone)) if (count > 0) stage.count(`left: ${kind}`);
      if (!found.more && orders.length + met + lines === 0) break;
    }
    await checks.checkAll(stage);
    stage.memory.clear();
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

  return { above, past, forget, whole };
}
