import { byPartition, mergeOnce, mergeParts, partAt } from '../../../store/lists/list';
import {
  entryName,
  newer,
  STEP,
  type WalletEntry,
  type WalletIndex,
} from '../../../store/reads/wallet-orders';
import { hashHex } from '../../../store/records/order';
import type { WalletShards } from './wallet-shards';

export interface ShardEntry extends WalletEntry {
  readonly shard: number;
}

/** The least number of orders that one step reads in each shard. */
const SHARD_STEP_MIN = 50;

/**
 * The list of a wallet's orders in all of its shards, newest first. A rank is a time of the shard's own Redis. Their clocks differ by
 * milliseconds, and by so much the order of two orders in different shards may differ from the order in which they came. The rank of an
 * order never changes, so a walk shows each order that was there at its beginning, and none twice. An order that comes during a walk
 * may be in it if the clock of its shard is behind.
 */
export function walletIndexOverShards(
  indexes: readonly WalletIndex[],
  wallets: WalletShards,
): WalletIndex<ShardEntry> {
  async function entries(address: Buffer, from: WalletEntry | null, openOnly: boolean, most = STEP) {
    const shards = await wallets.shardsOf(hashHex(address));
    const each = Math.max(SHARD_STEP_MIN, Math.ceil(most / shards.length));
    const lists = await Promise.all(
      shards.map(async (shard) => {
        const { found, more } = await partAt(indexes, shard).entries(address, from, openOnly, each);
        const end = more ? (found.at(-1) ?? null) : null;
        return { rows: found.map((entry): ShardEntry => ({ ...entry, shard })), end };
      }),
    );
    const { rows, end } = mergeParts<WalletEntry, ShardEntry>(lists, newer);
    // An archive that several shards share may answer for each of them.
    const found = mergeOnce(rows, entryName, newer);
    return { found: found.slice(0, most), more: end !== null || found.length > most };
  }

  async function records(found: readonly ShardEntry[]) {
    const parts = await byPartition(
      found,
      ({ shard }) => shard,
      (shard, own) => partAt(indexes, shard).records(own),
    );
    return parts.flat();
  }

  return { entries, records };
}
