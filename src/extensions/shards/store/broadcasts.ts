import type { MarketId } from '../../../exchange/market';
import type { BroadcastReads } from '../../../store/outbox/update-log';
import { type Directory, partOf } from './directory';

/** Books and updates, from the shard of each market. */
export function broadcastsOverShards(directory: Directory, parts: readonly BroadcastReads[]): BroadcastReads {
  const at = (id: MarketId): Promise<BroadcastReads> => partOf(directory, parts, id);
  const tail = async (id: MarketId) => (await at(id)).tail(id);
  return {
    tail,
    tails: (ids) => Promise.all(ids.map((id) => tail(id).catch(() => undefined))),
    since: async (id, sequence) => (await at(id)).since(id, sequence),
    sequence: async (id) => (await at(id)).sequence(id),
    load: async (id) => (await at(id)).load(id),
    book: async (id) => (await at(id)).book(id),
    fills: async (id, matches) => (await at(id)).fills(id, matches),
  };
}
