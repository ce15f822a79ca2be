import type { MarketId, MarketTerms } from '../../exchange/market';
import type { Logger } from '../../log';
import type { BookUpdate } from '../../store/outbox/book-update';
import type { BroadcastReads } from '../../store/outbox/update-log';
import type { Reads } from '../../store/reads/reads';
import { EVENTS, presentHeartbeat, type UpdateBody } from '../../wire/answers/events';
import { type FeedMessage, type ListedChange, type UpdateMessage, updateMessage } from '../messages';
import type { Snapshots } from './snapshots';

/** Updates kept for each market, for sockets that are about to join. */
const RECENT_MAX = 256;
/** The most drafts in memory; the opening of a forgotten draft is sent as an update. */
const DRAFTS_MAX = 1_000;

export interface MarketFeedDeps {
  readonly broadcasts: BroadcastReads;
  readonly reads: Pick<Reads, 'view' | 'clock'>;
  readonly snapshots: Snapshots;
  readonly log: Logger;
  /** Emits to the sockets of this process that are in a room. */
  readonly emit: (room: string, event: string, body: unknown, except?: string) => void;
  readonly isHeard: (room: string) => boolean;
}

/** One market in the state that the sockets of this process have received. */
export interface TrackedMarket {
  readonly id: MarketId;
  readonly terms: MarketTerms;
  readonly room: string;
  /** The room has received everything up to here. */
  readonly cursor: number;
  /**
   * The updates from a book at `sequence` to the cursor, oldest first; null when this process no longer knows them.
   * `older` are updates from the log.
   */
  path(sequence: number, older: readonly UpdateBody[]): readonly UpdateBody[] | null;
  /** Ends the claim of `track`. */
  release(): void;
}

interface Tracked extends TrackedMarket {
  cursor: number;
  checksum: string | null;
  recent: UpdateBody[];
  /** `look`: compare it with its log. */
  queue: (FeedMessage | { readonly kind: 'look' })[];
  busy: boolean;
  claims: number;
}

export interface MarketFeed {
  /** Starts to follow a market before its first socket joins. The market is followed while it is claimed or has sockets. */
  track(terms: MarketTerms): Promise<TrackedMarket>;
  receive(messages: readonly FeedMessage[]): void;
  /** Notifies the followers of the list of markets. */
  list(changes: readonly ListedChange[]): void;
  /** This process receives the messages of this room from now on, and may have missed earlier ones. */
  hearing(room: string): void;
  /** Compares every market with its log and sends missing updates. */
  catchUp(): Promise<void>;
  /** The same, then sends every room its position; not the rooms of markets that do not answer, because it might be wrong. */
  heartbeat(): Promise<void>;
}

const ROOM = 'm:';
/** Sockets that follow the list of markets. */
export const ALL_MARKETS = 'markets';
export const roomOf = (id: MarketId): string => `${ROOM}${id}`;

/** Sockets in the rooms of markets, one for each market a socket follows. */
export function countSubscriptions(rooms: ReadonlyMap<string, ReadonlySet<string>>): number {
  let count = 0;
  for (const [room, sockets] of rooms) if (room.startsWith(ROOM)) count += sockets.size;
  return count;
}

/**
 * The updates of this process's sockets. An update may come from the adapter or from the log; a room receives it once and
 * in order. Repeated messages are dropped, gaps are filled from the log, and when the log does not reach back far enough,
 * the room receives a snapshot.
 */
export function createMarketFeed(deps: MarketFeedDeps): MarketFeed {
  const { broadcasts, reads, snapshots, log, emit, isHeard } = deps;
  const markets = new Map<MarketId, Tracked>();
  /** Markets that are not listed yet; followers of the list are notified when they open. */
  const drafts = new Set<string>();
  const starting = new Map<MarketId, Promise<Tracked>>();

  async function begin(terms: MarketTerms): Promise<Tracked> {
    const { id } = terms;
    const [tail, sequence] = await Promise.all([broadcasts.tail(id), broadcasts.sequence(id)]);
    const start = { cursor: tail?.sequence ?? sequence, checksum: tail?.checksum ?? null, recent: [] };
    const market: Tracked = markets.get(id) ?? {
      ...start,
      id,
      terms,
      room: roomOf(id),
      queue: [],
      busy: false,
      claims: 0,
      path: (from, older) => pathOf(market, from, older),
      release: () => {
        market.claims--;
      },
    };
    if (!market.busy) Object.assign(market, start);
    markets.set(id, market);
    // Updates broadcast between the read and now were not received, because the market was not followed yet.
    await settle(market);
    return market;
  }

  async function track(terms: MarketTerms): Promise<TrackedMarket> {
    let market = markets.get(terms.id);
    // Since its last socket has left, this process has not received its updates.
    if (!market || (market.claims === 0 && !isHeard(market.room))) {
      const begun = starting.get(terms.id) ?? begin(terms).finally(() => starting.delete(terms.id));
      starting.set(terms.id, begun);
      market = await begun;
    }
    market.claims++;
    return market;
  }

  function tellOfMarket({ market, isFirst }: ListedChange): void {
    const isOpened = drafts.delete(market.id) && market.status !== 'DRAFT';
    if (market.status === 'DRAFT') drafts.add(market.id);
    else if (isOpened || isFirst) emit(ALL_MARKETS, EVENTS.newMarket, market);
    else emit(ALL_MARKETS, EVENTS.market, market, roomOf(market.id as MarketId));
    const [oldest] = drafts;
    if (drafts.size > DRAFTS_MAX && oldest !== undefined) drafts.delete(oldest);
  }

  function receive(messages: readonly FeedMessage[]): void {
    for (const message of messages) {
      const market = markets.get(message.marketId);
      if (!market) continue;
      market.queue.push(message);
      work(market);
    }
  }

  function work(market: Tracked): void {
    while (!market.busy) {
      const message = market.queue.shift();
      if (!message) return;
      if (message.kind === 'ticker') emit(market.room, EVENTS.ticker, message.ticker);
      else if (message.kind === 'look') hold(market, () => fill(market));
      else if (message.kind === 'reset') hold(market, () => resend(market));
      else if (message.update.previousSequence > market.cursor) hold(market, () => bridge(market, message));
      else deliver(market, message);
    }
  }

  function hearing(room: string): void {
    const market = room.startsWith(ROOM) && markets.get(room.slice(ROOM.length) as MarketId);
    if (!market) return;
    market.queue.push({ kind: 'look' });
    work(market);
  }

  /** Runs a task for a market while its messages wait. */
  function hold(market: Tracked, act: () => Promise<void>): void {
    void exclusively(market, act).catch((error: unknown) => {
      log.warn({ err: String(error), marketId: market.id }, 'a market could not catch up');
      // A waiting message does not continue the chain; the next message or heartbeat tries again.
      market.queue = [];
    });
  }

  async function exclusively(market: Tracked, act: () => Promise<void>): Promise<void> {
    if (market.busy) return;
    market.busy = true;
    try {
      await act();
    } finally {
      market.busy = false;
    }
    work(market);
  }

  /** Brings the room to an update that does not connect with its state. */
  async function bridge(market: Tracked, message: UpdateMessage): Promise<void> {
    await fill(market);
    if (message.update.previousSequence > market.cursor) {
      await resend(market);
      // The snapshot is newer than any update that was sent before it was read.
      market.cursor = Math.max(market.cursor, message.update.sequence);
    } else deliver(market, message);
  }

  function deliver(market: Tracked, message: UpdateMessage): void {
    const { update, trades, market: body } = message;
    if (update.sequence <= market.cursor) return;
    market.cursor = update.sequence;
    market.checksum = update.checksum;
    market.recent.push(update);
    if (market.recent.length > RECENT_MAX) market.recent.shift();
    emit(market.room, EVENTS.update, update);
    for (const trade of trades) emit(market.room, EVENTS.trade, trade);
    if (body) emit(market.room, EVENTS.market, body);
  }

  const settle = (market: Tracked): Promise<void> => exclusively(market, () => fill(market));

  /** Sends everything in the log after the cursor. */
  async function fill(market: Tracked): Promise<void> {
    const logged = await broadcasts.since(market.id, market.cursor);
    const known = logged[0]?.sequence === market.cursor ? logged.shift() : undefined;
    const first = logged[0];
    const isOther = known && market.checksum !== null && known.checksum !== market.checksum;
    const isGap = first ? first.previousSequence > market.cursor : !known && market.checksum !== null;
    if (isOther || isGap) return resend(market);
    for (const update of logged) await deliverLogged(market, update);
  }

  async function deliverLogged(market: Tracked, update: BookUpdate): Promise<void> {
    const fills = await broadcasts.fills(market.id, update.matches);
    deliver(market, await updateMessage(reads, market.terms, update, fills));
  }

  /** Sends the room a snapshot; the chain continues from the end of the log. */
  async function resend(market: Tracked): Promise<void> {
    const tail = await broadcasts.tail(market.id);
    snapshots.clear();
    const snapshot = await snapshots.fresh(market.id);
    log.warn(
      { marketId: market.id, cursor: market.cursor, sequence: snapshot.sequence },
      'snapshot sent again',
    );
    market.cursor = tail?.sequence ?? snapshot.sequence;
    market.checksum = tail?.checksum ?? null;
    market.recent = [];
    emit(market.room, EVENTS.snapshot, snapshot);
  }

  /** Returns the markets that could not be compared with their logs, because their partition does not answer. */
  async function lookAtAll(): Promise<ReadonlySet<Tracked>> {
    const followed = [...markets.values()];
    const tails = await broadcasts.tails(followed.map(({ id }) => id));
    const silent = new Set<Tracked>();
    await Promise.all(
      followed.map(async (market, i) => {
        const tail = tails[i];
        if (tail === undefined) return silent.add(market);
        const isSame = tail?.sequence === market.cursor && tail.checksum === market.checksum;
        if (isSame || (tail === null && market.checksum === null)) return;
        return settle(market).catch((error: Error) => {
          log.debug({ err: error.message, marketId: market.id }, 'a market could not be compared');
          silent.add(market);
        });
      }),
    );
    return silent;
  }

  async function catchUp(): Promise<void> {
    const silent = await lookAtAll();
    if (silent.size > 0) throw new Error(`${silent.size} markets are silent`);
  }

  function forgetUnheard(): void {
    for (const [id, market] of markets) {
      if (market.claims === 0 && !starting.has(id) && !isHeard(market.room)) markets.delete(id);
    }
  }

  return {
    track,
    receive,
    list: (changes) => changes.forEach(tellOfMarket),
    hearing,
    catchUp,
    async heartbeat() {
      forgetUnheard();
      const silent = await lookAtAll();
      for (const market of markets.values()) {
        const { room, terms, cursor } = market;
        if (silent.has(market)) continue;
        emit(room, EVENTS.heartbeat, presentHeartbeat(terms.conditionId, cursor, Math.trunc(reads.clock())));
      }
    },
  };
}

function pathOf(market: Tracked, from: number, older: readonly UpdateBody[]): readonly UpdateBody[] | null {
  const path: UpdateBody[] = [];
  let at = from;
  for (const update of [...older, ...market.recent]) {
    if (update.sequence <= at || update.sequence > market.cursor) continue;
    if (update.previousSequence > at) return null;
    path.push(update);
    at = update.sequence;
  }
  return at >= market.cursor ? path : null;
}
