import { setTimeout as sleep } from 'node:timers/promises';
import type { MarketState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import type { Logger } from '../../log';
import { type CommandEvent, isCommand } from '../../store/outbox/book-update';
import type { OutboxEntry, OutboxReader } from '../../store/outbox/reader';
import type { Broadcasts, Publication } from '../../store/outbox/update-log';
import type { Reads } from '../../store/reads/reads';
import type { Fill } from '../../store/records/order';
import { isBefore } from '../../store/redis/entry-id';
import { type FeedMessage, updateMessage } from '../messages';
import { type FollowedMarket, followMarket } from './followed-market';

/** Entries read in one call. */
const READ_MAX = 1_000;
/** The longest wait of a read for its first entry. */
const BLOCK_MS = 500;
/** The pause between two reads: entries of this time are read together, which makes a busy stream cheap. */
const PACE_MS = 5;
/** The most books kept; the longest unchanged ones are dropped and loaded again. */
const MARKETS_MAX = 2_000;
/** The interval in which one book is compared with the stored one. */
const VERIFY_EVERY_MS = 2_000;

export interface BroadcasterDeps {
  readonly broadcasts: Broadcasts;
  readonly reader: OutboxReader;
  readonly reads: Pick<Reads, 'market' | 'view'>;
  readonly log: Logger;
  readonly intervalMs: number;
  /** Sends messages to all replicas, including this one. */
  readonly emit: (messages: readonly FeedMessage[]) => void;
  /** The market's best prices or its last price may have changed. */
  readonly moved: (market: FollowedMarket) => void;
}

interface Cut {
  readonly market: FollowedMarket;
  readonly publication: Publication;
}

/** One term of broadcasting, under one lease. */
export interface Term {
  /** Id of the last outbox entry that it has processed. */
  position(): string;
  /** Resolves when it writes and sends nothing more. */
  stop(): Promise<void>;
  /** Resolves when the term ended by itself: the lease was lost, or Redis does not respond. */
  readonly ended: Promise<void>;
}

/**
 * Reads the outbox in order and turns it into updates of books: at most one for each market in `intervalMs`. A script checks
 * the lease and writes each update to the market's log before any replica receives it. A process that lost the lease cannot
 * write; replicas drop a message it still sends, because the message does not continue their chain.
 */
export function startTerm(deps: BroadcasterDeps, token: string, leaseMs: number, from: string): Term {
  const { broadcasts, reader, reads, log, intervalMs, emit, moved } = deps;
  const followed = new Map<MarketId, FollowedMarket>();
  const waiting = new Set<FollowedMarket>();
  let cuts: Cut[] = [];
  let readUpTo = from;
  let finished = from;
  let stopped = false;
  let reading = false;
  let verifiedAtMs = performance.now();

  const ended = run().catch((error: unknown) => {
    if (!stopped) log.warn({ err: messageOf(error) }, 'broadcasting stopped');
  });

  async function run(): Promise<void> {
    while (!stopped) {
      reading = true;
      const entries = await reader.read(readUpTo, READ_MAX, nextCutInMs());
      reading = false;
      if (stopped) return;
      await take(entries);
      await publishDue();
      await verifyOne();
      if (entries.length < READ_MAX && intervalMs > 0) await sleep(Math.min(PACE_MS, intervalMs / 2));
    }
  }

  /** The time until there is something to do. */
  function nextCutInMs(): number {
    let ms = BLOCK_MS;
    for (const market of waiting) {
      if (market.isWhole()) ms = Math.min(ms, market.cutAtMs + intervalMs - performance.now());
    }
    return Math.max(1, Math.ceil(ms));
  }

  async function take(entries: readonly OutboxEntry[]): Promise<void> {
    const unknown = new Map<MarketId, CommandEvent>();
    for (const { event } of entries) {
      if (!isCommand(event) || followed.has(event.marketId) || unknown.has(event.marketId)) continue;
      unknown.set(event.marketId, event);
    }
    await Promise.all([...unknown.values()].map((event) => follow(event, false)));
    for (const { id, event } of entries) {
      if (isCommand(event)) await apply(event);
      readUpTo = id;
    }
    if (followed.size > MARKETS_MAX) dropQuiet();
  }

  async function apply(event: CommandEvent): Promise<void> {
    const { marketId, sequence } = event;
    let market = followed.get(marketId);
    const applied = market?.apply(event, readUpTo);
    if (applied === 'again') throw new Error('Redis has lost its latest writes');
    if (market && applied === 'missing') {
      // It never happens while Redis keeps its data. Clients notice that updates do not connect, and are sent the book.
      log.error({ marketId, sequence, after: market.sequence }, 'commands are missing in the outbox');
      waiting.delete(market);
      market = await follow(event, true);
      market?.apply(event, readUpTo);
    }
    if (!market || market.waitingSince === null) return;
    waiting.add(market);
    if (intervalMs === 0 && market.isWhole()) cut(market);
  }

  function cut(market: FollowedMarket): void {
    cuts.push({ market, publication: market.cut(performance.now()) });
    waiting.delete(market);
  }

  async function follow(event: CommandEvent, restart: boolean): Promise<FollowedMarket | undefined> {
    const { marketId, sequence } = event;
    const market = await reads.market(marketId);
    if (!market) {
      // A market that cannot be followed must not stop the broadcast of the others.
      log.error({ marketId }, 'the outbox names an unknown market');
      return undefined;
    }
    const loaded = await broadcasts.load(marketId);
    const fresh = followMarket(market.terms, loaded, sequence, restart);
    followed.set(marketId, fresh);
    return fresh;
  }

  async function publishDue(): Promise<void> {
    for (const market of [...waiting]) {
      if (market.isWhole() && market.cutAtMs + intervalMs <= performance.now()) cut(market);
    }
    if (cuts.length > 0) await publish(cuts);
    else if (waiting.size === 0) finished = readUpTo;
    cuts = [];
  }

  async function publish(due: readonly Cut[]): Promise<void> {
    const at = oldestWaiting();
    const publications = due.map(({ publication }) => publication);
    const [, trades] = await Promise.all([
      broadcasts.publish(token, leaseMs, { before: finished, at }, publications),
      Promise.all(publications.map(({ marketId, update }) => broadcasts.fills(marketId, update.matches))),
    ]);
    finished = at;
    emit(await Promise.all(due.map((one, i) => messageFor(one, trades[i] ?? []))));
    for (const { market } of due) moved(market);
  }

  /** The last entry before the first one that waits. Ids that were read earlier sort before later ones. */
  function oldestWaiting(): string {
    let oldest = readUpTo;
    for (const { waitingSince } of waiting) {
      if (waitingSince !== null && isBefore(waitingSince, oldest)) oldest = waitingSince;
    }
    return oldest;
  }

  async function messageFor({ market, publication }: Cut, fills: readonly Fill[]): Promise<FeedMessage> {
    // A match that failed on a chain is taken out of the volume and the last price.
    if (publication.update.marketChanged) market.recounted((await broadcasts.load(market.id)).state);
    else market.traded(fills);
    return updateMessage(reads, market.terms, publication.update, fills);
  }

  /** Compares one market after another. A difference would be a bug here or in Redis; clients are then sent the book. */
  async function verifyOne(): Promise<void> {
    if (performance.now() - verifiedAtMs < VERIFY_EVERY_MS) return;
    verifiedAtMs = performance.now();
    const [next] = followed;
    if (!next) return;
    const [id, market] = next;
    followed.delete(id);
    followed.set(id, market);
    const state = await broadcasts.book(id);
    if (state.sequence < market.sequence) throw new Error('Redis has lost its latest writes');
    const isComparable = market.waitingSince === null && state.sequence === market.sequence;
    if (!isComparable || isSameBook(state, market.book)) return;
    log.error({ marketId: id, sequence: state.sequence }, 'the broadcast book differs from the stored one');
    followed.delete(id);
    emit([{ kind: 'reset', marketId: id }]);
  }

  function dropQuiet(): void {
    for (const [id, market] of followed) {
      if (followed.size <= MARKETS_MAX) return;
      if (!waiting.has(market)) followed.delete(id);
    }
  }

  return {
    position: () => finished,
    ended,
    async stop() {
      stopped = true;
      // A read that is still waiting changes nothing; a publication in progress may finish.
      if (!reading) await ended;
    },
  };
}

type Sides = Pick<MarketState, 'bids' | 'asks'>;

function isSameBook(stored: Sides, kept: Pick<FollowedMarket['book'], 'bids' | 'asks'>): boolean {
  const isSameSide = (side: 'bids' | 'asks'): boolean =>
    stored[side].length === kept[side].length &&
    stored[side].every(({ pricePips, sizeLots }, i) => {
      const level = kept[side][i];
      return level?.pricePips === pricePips && level.sizeLots === sizeLots;
    });
  return isSameSide('bids') && isSameSide('asks');
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
