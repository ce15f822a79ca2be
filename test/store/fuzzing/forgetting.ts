import { createForgetting, type Forgetting } from '../../../src/store/archive/forgetting';
import { isOver } from '../../../src/store/archive/leaving';
import { createPast, type Past } from '../../../src/store/archive/past';
import { decodeOrder, hashBytes, hashHex } from '../../../src/store/records/order';
import type { ShardKeys } from '../../../src/store/redis/keys';
import type { RedisClient, RunScript } from '../../../src/store/redis/scripts';
import { createMemoryArchive } from '../../support/memory-archive';
import type { SideBySide } from './side-by-side';
import type { StoredState, Wanted } from './stored';

const TOKEN = 'the fuzz';
const LEASE_MS = 3_600_000;
/** Orders gather for so many operations. */
const EVERY = 3;

/** Orders that are over leave Redis at once, and what is compared is Redis and the archive together. */
export interface Oblivion {
  readonly past: Past;
  /** After an operation that touched these orders. */
  forget(stage: SideBySide, hashes: readonly string[]): Promise<void>;
  /** How many orders of a wallet, of this rank or a higher one, have left. */
  above(wallet: string, rank: number): number;
  /** The state read from Redis, with the orders that have left it. */
  whole(stored: StoredState, wanted: Wanted): StoredState;
}

export function createOblivion(redis: RedisClient, run: RunScript, keys: ShardKeys): Oblivion {
  const archive = createMemoryArchive();
  const forgetting: Forgetting = createForgetting({ redis, run, keys, archive, keepMs: 0 });
  const waiting = new Set<string>();
  let [steps, isOpen] = [0, false];

  async function forget(stage: SideBySide, hashes: readonly string[]): Promise<void> {
    for (const hash of hashes) waiting.add(hash);
    // A walk that is under way begins again when an order leaves before its place, and the model's does not.
    if (
      ++steps % EVERY !== 0 ||
      waiting.size === 0 ||
      stage.sweeps.size > 0 ||
      stage.model.mode() === 'HALTED'
    )
      return;
    if (!isOpen) {
      await forgetting.lease.take(TOKEN, LEASE_MS);
      await forgetting.open();
      isOpen = true;
    }
    const raw = [...waiting].map(hashBytes);
    waiting.clear();
    const packed = await redis.hmgetBuffer(keys.orders, ...raw);
    const over = raw.flatMap((hash, i) => {
      const record = packed[i];
      return record && isOver(record, stage.now(), () => null) ? [{ hash, packed: record }] : [];
    });
    const gone = await forgetting.move(TOKEN, { orders: over });
    if (gone.orders > 0) stage.count('forgotten');
    stage.memory.clear();
  }

  function whole(stored: StoredState, { hashes, wallets }: Wanted): StoredState {
    const rows = [...archive.rows.values()];
    return {
      ...stored,
      orderCount: stored.orderCount + rows.length,
      records: stored.records.map((record, i) => {
        const row = archive.rows.get((hashes[i] ?? '').slice(2));
        return record ?? (row ? decodeOrder(hashes[i] ?? '', row.record) : null);
      }),
      wallets: stored.wallets.map((wallet, i) => {
        const gone = rows.filter((row) => hashHex(row.wallet) === wallets[i]).length;
        return gone === 0 ? wallet : { ...wallet, orders: wallet.orders + gone };
      }),
    };
  }

  const above = (wallet: string, rank: number): number =>
    [...archive.rows.values()].filter((row) => hashHex(row.wallet) === wallet && row.rank >= rank).length;

  return { above, past: createPast({ redis, keys, archive }), forget, whole };
}
