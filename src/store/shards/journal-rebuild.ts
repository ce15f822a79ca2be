import { ArchivedPartDiffers, type JournalRebuild } from '../journal/rebuild';
import { partAt } from '../lists/list';
import type { WalletShards } from '../verbs/wallet-shards';

/** A wallet's journal has a part in each of its shards; each part is put right by itself, from what its shard has. */
export function journalRebuildOverShards(
  parts: readonly JournalRebuild[],
  wallets: Pick<WalletShards, 'shardsOf'>,
): JournalRebuild {
  return {
    async wallets() {
      const found = new Set<string>();
      for (const part of parts) for (const wallet of await part.wallets()) found.add(wallet);
      return [...found].sort();
    },
    /** Throws ArchivedPartDiffers when a shard has left its part as it was; the other shards are done. */
    async rebuild(address) {
      const refused: string[] = [];
      let isChanged = false;
      for (const shard of await wallets.shardsOf(address)) {
        try {
          isChanged = (await partAt(parts, shard).rebuild(address)) || isChanged;
        } catch (error) {
          if (!(error instanceof ArchivedPartDiffers)) throw error;
          refused.push(`in shard ${shard}: ${error.message}`);
        }
      }
      if (refused.length > 0) throw new ArchivedPartDiffers(refused.join('; '));
      return isChanged;
    },
  };
}
