import type { Archive } from '../../src/extensions/archive/archive';
import type {
  ArchivedLine,
  ArchivedMatch,
  ArchivedOrder,
  ArchivedSettlement,
} from '../../src/store/lists/archived-reads';
import type { StreamPlace, WalletPlace } from '../../src/store/lists/places';

/** Ranks are times in milliseconds, times this. */
const RANKS_PER_MS = 1_000;

type Batched<Row> = Row & { readonly batch: number };
type Met = ArchivedMatch & { readonly orders: readonly Buffer[] };

export interface MemoryArchive extends Archive {
  readonly rows: ReadonlyMap<string, ArchivedOrder>;
  readonly met: ReadonlyMap<string, Met>;
  readonly settled: ReadonlyMap<string, ArchivedSettlement>;
  readonly written: ReadonlyMap<string, ArchivedLine>;
}

/**
 * An archive in this process, with the reads of single orders, matches and lines. The fuzz of the store needs it: every operation of
 * a world is followed by reads and most by a batch, some hundred thousand in a run, and PostgreSQL would take them longer than
 * everything else in it. It has no rule of its own to test; test/extensions/archive/ has PostgreSQL for every story about the archive.
 */
export function createMemoryArchive(): MemoryArchive {
  const rows = new Map<string, Batched<ArchivedOrder>>();
  const met = new Map<string, Batched<Met>>();
  const settled = new Map<string, Batched<ArchivedSettlement>>();
  const written = new Map<string, Batched<ArchivedLine>>();
  const ofOrder = new Map<string, Set<string>>();
  let [batch, droppedMs, dropped] = [0, 0, 0];
  const newestFirst = (a: WalletPlace, b: WalletPlace): number =>
    b.rank - a.rank || Buffer.compare(a.hash, b.hash);
  const none = { orders: 0, matches: 0, settlements: 0, lines: 0, parts: 0 };
  const state = async () => ({ id: 'memory', batch, droppedMs, dropped: { ...none, orders: dropped } });

  function addMatch(match: Met): void {
    const key = matchKey(match);
    met.set(key, { ...match, batch });
    for (const hash of match.orders) {
      const own = ofOrder.get(hash.toString('hex')) ?? new Set();
      ofOrder.set(hash.toString('hex'), own.add(key));
    }
  }

  return {
    rows,
    met,
    settled,
    written,
    state,
    open: state,
    orders: async (hashes) => hashes.flatMap((hash) => rows.get(hash.toString('hex')) ?? []),
    async ofWallet(wallet, behind, most) {
      const own = [...rows.values()].filter((row) => row.wallet.equals(wallet)).sort(newestFirst);
      return own.filter((row) => behind === null || newestFirst(behind, row) < 0).slice(0, most);
    },
    async append(next, { orders, matches, settlements, lines }) {
      if (next !== batch + 1) return false;
      batch = next;
      for (const order of orders) rows.set(order.hash.toString('hex'), { ...order, batch });
      for (const match of matches) addMatch(match);
      for (const one of settlements) settled.set(`${one.listMs}-${one.listIndex}`, { ...one, batch });
      for (const line of lines) written.set(lineKey(line.wallet, line.entry), { ...line, batch });
      return true;
    },
    async cutBack(to) {
      let gone = 0;
      for (const table of [rows, met, settled, written] as Map<string, { readonly batch: number }>[])
        for (const [key, row] of table) if (row.batch > to && table.delete(key)) gone++;
      batch = Math.min(batch, to);
      return gone;
    },
    matches: async (refs) => refs.flatMap((ref) => met.get(matchKey(ref)) ?? []),
    matchesOfOrders: async (asked, most) =>
      asked.map(({ hash, upTo }) => {
        const own = [...(ofOrder.get(hash.toString('hex')) ?? [])].flatMap((key) => met.get(key) ?? []);
        const within = own.filter((match) => byPlace(match, upTo) <= 0);
        return within.sort((a, b) => byPlace(b, a)).slice(0, most);
      }),
    async lines(wallet, from, to) {
      const found: ArchivedLine[] = [];
      for (let entry = from; entry <= to; entry++) {
        const line = written.get(lineKey(wallet, entry));
        if (line) found.push(line);
      }
      return found;
    },
    walk: async () => [...rows.values()],
    size: async () => ({ ...none, orders: rows.size, bytes: 0 }),
    matchesOf: async () => [],
    settlements: async () => [],
    settlementsOf: async () => [],
    parts: async () => [],
    partsFrom: async () => [],
    async dropBefore(ms) {
      const gone = [...rows].filter(([, { rank }]) => rank < ms * RANKS_PER_MS);
      for (const [hash] of gone) rows.delete(hash);
      if (gone.length > 0) [droppedMs, dropped] = [ms, dropped + gone.length];
      return gone.length;
    },
    facts: async () => ({ version: 16, mayCreate: true, isDurable: true, bytes: 0 }),
    failure: () => null,
    breakOff: () => undefined,
    close: async () => undefined,
  };
}

const matchKey = (match: StreamPlace & { readonly marketId: string }): string =>
  `${match.marketId} ${match.tradeMs}-${match.sequence}`;
const lineKey = (wallet: Buffer, entry: number): string => `${wallet.toString('hex')} ${entry}`;
const byPlace = (a: StreamPlace, b: StreamPlace): number => a.tradeMs - b.tradeMs || a.sequence - b.sequence;
