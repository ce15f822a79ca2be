import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../exchange/errors';
import type { MarketTerms } from '../../exchange/market';
import type { DurabilityChecks } from '../../store/health/durability';
import type { BroadcastReads } from '../../store/outbox/update-log';
import type { Reads } from '../../store/reads/reads';
import { EVENTS, presentAck, presentUpdate, type UpdateBody } from '../../wire/answers/events';
import { parseSubscribe, parseUnsubscribe } from '../../wire/requests/subscriptions';
import { type Allowances, tooMuch } from '../sockets/allowances';
import type { Answer } from '../sockets/requests';
import { cutSocket, type ExchangeSocket, sendText, unsentBytes } from '../sockets/sockets';
import { ALL_MARKETS, type MarketFeed, roomOf, type TrackedMarket } from './market-feed';
import { createSentSnapshots } from './sent-snapshots';
import type { Snapshot, Snapshots } from './snapshots';

/** The most markets of one socket. */
const MARKETS_MAX = 1_000;
/** Updates sent in one step; before the next, the socket must have taken most of the bytes that it was sent. */
const STEP = 100;
const UNSENT_MAX = 256 * 1024;
const DRAIN_POLL_MS = 20;
/** Updates of a replay that count as one message. */
const REPLAYED_PER_MESSAGE = 20;
/** The points of a snapshot that the socket has received before. */
const AGAIN_MESSAGES = 10;

export interface SubscriberDeps {
  readonly feed: MarketFeed;
  readonly snapshots: Snapshots;
  readonly broadcasts: Pick<BroadcastReads, 'since' | 'sequence'>;
  readonly reads: Pick<Reads, 'market'>;
  readonly durability: Pick<DurabilityChecks, 'current' | 'refresh'>;
  readonly charge: Allowances['charge'];
}

/** The start of a socket: a snapshot, or the updates after its position. */
interface Start {
  readonly market: TrackedMarket;
  readonly snapshot: Snapshot | null;
  readonly sequence: number;
  /** The updates of the log after `sequence`. */
  readonly older: readonly UpdateBody[];
}

/** The handlers of `subscribe` and `unsubscribe`. Both throw refusals: INVALID_REQUEST, MARKET_NOT_FOUND. */
export function createSubscriber(deps: SubscriberDeps) {
  const { feed, snapshots, broadcasts, reads, durability, charge } = deps;
  const sent = createSentSnapshots(MARKETS_MAX);

  async function marketsOf(conditionIds: readonly string[]): Promise<MarketTerms[]> {
    return Promise.all(
      conditionIds.map(async (conditionId) => {
        const market = await reads.market(conditionId);
        if (!market)
          throw new Refusal(
            'MARKET_NOT_FOUND',
            `there is no market with the condition id ${conditionId}; GET /markets lists them`,
          );
        return market.terms;
      }),
    );
  }

  async function subscribe(socket: ExchangeSocket, message: unknown, answer: Answer): Promise<void> {
    const { conditionIds, markets, lastSequence, epoch } = parseSubscribe(message);
    if (markets) {
      await socket.join(ALL_MARKETS);
      answer(presentAck.subscribedToMarkets(await epochNow()));
      return;
    }
    if (!charge(socket, conditionIds.length - 1)) throw tooMuch();
    const terms = await marketsOf(conditionIds);
    const more = terms.filter(({ id }) => !socket.rooms.has(roomOf(id))).length;
    if (socket.rooms.size + more > MARKETS_MAX) {
      throw new Refusal(
        'INVALID_REQUEST',
        `a socket may subscribe to ${MARKETS_MAX} markets; unsubscribe from some or open another socket`,
      );
    }
    const now = await epochNow();
    // In another epoch the same number may belong to another book.
    const last = epoch === null || epoch === now ? lastSequence : null;
    const tracked = await Promise.all(terms.map(feed.track));
    try {
      const starts = await Promise.all(tracked.map((market) => startOf(market, last)));
      answer(presentAck.subscribed(starts.map(startFacts), now));
      for (const start of starts) {
        charge(socket, Math.floor(start.older.length / REPLAYED_PER_MESSAGE));
        if (!isThere(socket, start)) await enterOrCut(socket, start);
      }
    } finally {
      for (const market of tracked) market.release();
    }
  }

  /**
   * Reads the epoch before the books: their epoch is this one or a later one. Null while it is unknown, for example while
   * Redis accepts no writes.
   */
  async function epochNow(): Promise<string | null> {
    const standing = durability.current();
    if (standing?.isCertain) return standing.epoch;
    return durability.refresh().then(
      ({ epoch }) => epoch,
      () => null,
    );
  }

  /** Whether the socket follows the market and was sent this snapshot; the room has received every update since. */
  const isThere = (socket: ExchangeSocket, { market, snapshot }: Start): boolean =>
    snapshot !== null && socket.rooms.has(market.room) && sent.has(socket, snapshot);

  async function startOf(market: TrackedMarket, lastSequence: number | null): Promise<Start> {
    const replay = lastSequence === null ? null : await replayFrom(market, lastSequence);
    if (replay) return replay;
    const snapshot = await snapshots.fresh(market.id);
    return { market, snapshot, sequence: snapshot.sequence, older: [] };
  }

  /** Null when the log does not reach back that far, or the market was never broadcast. */
  async function replayFrom(market: TrackedMarket, sequence: number): Promise<Start | null> {
    const remembered = sequence < market.cursor ? market.path(sequence, []) : null;
    if (remembered) return { market, snapshot: null, sequence, older: remembered };
    const [logged, now] = await Promise.all([
      broadcasts.since(market.id, sequence),
      broadcasts.sequence(market.id),
    ]);
    if (sequence > now) return null;
    const older = logged
      .filter((update) => update.sequence > sequence)
      .map((update) => presentUpdate(update, market.terms));
    // Without any, the client has every update, or a snapshot that was ahead of them.
    const isNear = older[0] ? older[0].previousSequence <= sequence : sequence >= market.cursor;
    return isNear ? { market, snapshot: null, sequence, older } : null;
  }

  /** The client believes that it is subscribed, so it must notice a failure. */
  async function enterOrCut(socket: ExchangeSocket, start: Start): Promise<void> {
    try {
      await enter(socket, start);
    } catch (error) {
      cutSocket(socket);
      throw error;
    }
  }

  /**
   * Sends the start to the socket and lets it join without a pause, so that no update is missing between the last message
   * sent here and the first message that the room is sent.
   */
  async function enter(socket: ExchangeSocket, { market, snapshot, sequence, older }: Start): Promise<void> {
    let at = sequence;
    let first = snapshot;
    await drained(socket);
    socket.leave(market.room);
    while (socket.connected) {
      const path = market.path(at, older);
      if (!path) {
        // While the socket waited, there were more updates than this process remembers.
        first = await snapshots.fresh(market.id);
        at = first.sequence;
        continue;
      }
      if (first) sendSnapshot(socket, first);
      first = null;
      for (const update of path.slice(0, STEP)) {
        socket.emit(EVENTS.update, update);
        at = update.sequence;
      }
      if (path.length <= STEP) {
        socket.join(market.room);
        return;
      }
      await drained(socket);
    }
  }

  function sendSnapshot(socket: ExchangeSocket, snapshot: Snapshot): void {
    if (sent.has(socket, snapshot)) charge(socket, AGAIN_MESSAGES);
    sent.add(socket, snapshot);
    sendText(socket, snapshots.textOf(snapshot));
  }

  async function unsubscribe(socket: ExchangeSocket, message: unknown, answer: Answer): Promise<void> {
    const { conditionIds, markets } = parseUnsubscribe(message);
    if (markets) {
      await socket.leave(ALL_MARKETS);
      answer(presentAck.unsubscribedFromMarkets());
      return;
    }
    if (!charge(socket, conditionIds.length - 1)) throw tooMuch();
    for (const { id } of await marketsOf(conditionIds)) socket.leave(roomOf(id));
    answer(presentAck.unsubscribed(conditionIds));
  }

  return { subscribe, unsubscribe };
}

/** If the socket takes nothing, the guard disconnects it, which ends the wait. */
async function drained(socket: ExchangeSocket): Promise<void> {
  while (socket.connected && unsentBytes(socket) > UNSENT_MAX) await sleep(DRAIN_POLL_MS);
}

/** The client's position once it has received the messages after the acknowledgement. */
const startFacts = ({ market, sequence, older }: Start) => ({
  conditionId: market.terms.conditionId,
  sequence: older.at(-1)?.sequence ?? sequence,
});
