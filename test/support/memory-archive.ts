import type { Archive, ArchivedOrder, WalletPlace } from '../../src/exchange/archive';

/** Ranks are times in milliseconds, times this. */
const RANKS_PER_MS = 1_000;

/** An archive in this process, for tests of what leaves Redis and of who looks for it; test/archive/ has PostgreSQL. */
export function createMemoryArchive(): Archive & { readonly rows: ReadonlyMap<string, ArchivedOrder> } {
  const rows = new Map<string, ArchivedOrder & { readonly batch: number }>();
  let [batch, droppedMs, dropped] = [0, 0, 0];
  const newestFirst = (a: WalletPlace, b: WalletPlace): number =>
    b.rank - a.rank || Buffer.compare(a.hash, b.hash);
  const none = { orders: 0, matches: 0, settlements: 0, lines: 0, parts: 0 };
  const state = async () => ({ id: 'memory', batch, droppedMs, dropped: { ...none, orders: dropped } });
  return {
    rows,
    state,
    open: state,
    orders: async (hashes) => hashes.flatMap((hash) => rows.get(hash.toString('hex')) ?? []),
    async ofWallet(wallet, behind, most) {
      const own = [...rows.values()].filter((row) => row.wallet.equals(wallet)).sort(newestFirst);
      return own.filter((row) => behind === null || newestFirst(behind, row) < 0).slice(0, most);
    },
    async append(next, { orders }) {
      if (next !== batch + 1) return false;
      batch = next;
      for (const order of orders) rows.set(order.hash.toString('hex'), { ...order, batch });
      return true;
    },
    async cutBack(to) {
      const gone = [...rows].filter(([, row]) => row.batch > to);
      for (const [hash] of gone) rows.delete(hash);
      batch = Math.min(batch, to);
      return gone.length;
    },
    walk: async () => [...rows.values()],
    size: async () => ({ ...none, orders: rows.size, bytes: 0 }),
    matches: async () => [],
    matchesOf: async () => [],
    matchesOfOrder: async () => [],
    settlements: async () => [],
    settlementsOf: async () => [],
    lines: async () => [],
    parts: async () => [],
    partsFrom: async () => [],
    async dropBefore(ms) {
      const gone = [...rows].filter(([, { rank }]) => rank < ms * RANKS_PER_MS);
      for (const [hash] of gone) rows.delete(hash);
      if (gone.length > 0) [droppedMs, dropped] = [ms, dropped + gone.length];
      return gone.length;
    },
    close: async () => undefined,
  };
}
