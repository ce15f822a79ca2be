import type { MarketView } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import type { History } from '../candles/history';
import type { DurabilityChecks } from '../health/durability';
import { kindOf, marketOf, NO_MARKET } from '../outbox/outbox';
import { MINUTE_MS } from '../records/candle';
import type { Clock } from '../redis/clock';
import { coalesce } from '../redis/coalesce';
import { NO_ENTRY } from '../redis/entry-id';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

interface MarketListOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly history: Pick<History, 'day'>;
  readonly doubts: DurabilityChecks['doubts'];
  /** The current state of one market. */
  readonly view: (id: MarketId) => Promise<MarketView>;
}

/**
 * Every market, drafts included, in the order of creation: a market's place never changes. The array stays the same while
 * its content does, so that values derived from it can be cached.
 */
export type MarketList = () => Promise<readonly MarketView[]>;

/** Outbox entries that are read to find the changed markets; after more entries every state is read. */
const ENTRIES_MAX = 500;

interface Kept {
  readonly state: Buffer | null;
  view: MarketView;
}

/** A list shows only the best of a book. */
function withoutDepth(market: MarketView): MarketView {
  const { bids, asks } = market.state;
  return { ...market, state: { ...market.state, bids: bids.slice(0, 1), asks: asks.slice(0, 1) } };
}

/**
 * The markets that a process caches. Before each answer it asks the outbox, after the request came, for changes since the
 * last read, and reads the changed markets again. So the effect of a command is in every list that is requested after its
 * answer. Callers that come meanwhile share the next read.
 */
export function createMarketList({
  redis,
  keys,
  clock,
  history,
  doubts,
  view,
}: MarketListOptions): MarketList {
  const kept = new Map<MarketId, Kept>();
  let ids: MarketId[] = [];
  /** The last outbox entry whose effect is certainly in the list. */
  let position = NO_ENTRY;
  let minute = 0;
  let list: readonly MarketView[] | null = null;
  let keptAt = doubts();

  /** Data read before a doubt is shown only to requests that came before it. */
  function forgetDoubtful(): void {
    if (keptAt === doubts()) return;
    kept.clear();
    ids = [];
    [position, minute, list] = [NO_ENTRY, 0, null];
    keptAt = doubts();
  }

  const refresh = coalesce(async (): Promise<readonly MarketView[]> => {
    forgetDoubtful();
    const shown = await renew();
    forgetDoubtful();
    return shown;
  });

  async function renew(): Promise<readonly MarketView[]> {
    const [latest] = await redis.xrevrangeBuffer(keys.outbox, '+', '-', 'COUNT', 1);
    const reached = latest ? latest[0].toString() : NO_ENTRY;
    if (reached !== position || reached === NO_ENTRY) {
      const touched = await changedSince(reached);
      if (touched === null || [...touched].some((id) => !kept.has(id))) await readIds();
      await readAgain(touched === null ? await changedStates() : [...touched]);
      position = reached;
    }
    await moveDays();
    list ??= ids.flatMap((id) => kept.get(id)?.view ?? []);
    return list;
  }

  /** Returns the markets of the entries after `position`; null when they are unknown. */
  async function changedSince(reached: string): Promise<ReadonlySet<MarketId> | null> {
    if (position === NO_ENTRY || reached === NO_ENTRY) return null;
    const entries = await redis.xrangeBuffer(keys.outbox, position, reached, 'COUNT', ENTRIES_MAX);
    const [first] = entries;
    // The outbox no longer has these entries, or has too many of them.
    if (first?.[0].toString() !== position || entries.length === ENTRIES_MAX) return null;
    const touched = new Set<MarketId>();
    for (const [, fields] of entries.slice(1)) {
      const packed = fields[1] as Buffer;
      const id = marketOf(packed);
      if (kindOf(packed) !== 'SETTLE' && id !== NO_MARKET) touched.add(id);
    }
    return touched;
  }

  async function readIds(): Promise<void> {
    const [listed, stored] = await Promise.all([
      redis.lrange(keys.marketList, 0, -1),
      redis.hkeys(keys.markets),
    ]);
    // Markets older than the list come after it.
    ids = [...new Set([...listed, ...stored.sort()])];
    list = null;
  }

  /** Returns the markets whose packed state, which every change of a market changes, differs from the cached one. */
  async function changedStates(): Promise<MarketId[]> {
    const states = await Promise.all(ids.map((id) => redis.hgetBuffer(keys.market(id), 's')));
    return ids.filter((id, i) => {
      const [known, state] = [kept.get(id)?.state, states[i]];
      return !known || !state || !known.equals(state);
    });
  }

  async function readAgain(changed: readonly MarketId[]): Promise<void> {
    await Promise.all(
      changed.map(async (id) => {
        // The state may be older than the view, never newer.
        const state = await redis.hgetBuffer(keys.market(id), 's');
        if (!state) return;
        kept.set(id, { state, view: withoutDepth(await view(id)) });
        list = null;
      }),
    );
  }

  /** Figures of the last 24 hours change every minute, also in markets without trades. */
  async function moveDays(): Promise<void> {
    const nowMs = clock.now();
    const now = Math.floor(nowMs / MINUTE_MS);
    if (now === minute) return;
    await Promise.all(
      [...kept.values()].map(async (one) => {
        const { view: before } = one;
        const day = await history.day(before.terms.id, before.state, nowMs);
        if (one.view === before) one.view = { ...before, day };
      }),
    );
    list = null;
    minute = now;
  }

  return refresh;
}
