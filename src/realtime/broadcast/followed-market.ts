import type { MarketState } from '../../exchange/facts';
import type { MarketId, MarketTerms } from '../../exchange/market';
import { yesPrice } from '../../exchange/match';
import { lots, micro, type Pips, pips } from '../../exchange/units';
import type { CountedState } from '../../store/candles/history';
import type {
  BookUpdate,
  CommandEvent,
  CommandKind,
  LevelChange,
  MatchId,
} from '../../store/outbox/book-update';
import type { BookAndTail, Publication } from '../../store/outbox/update-log';
import type { Fill } from '../../store/records/order';
import { type Book, createBook } from './book';

/**
 * `ok`: the command continues the market, or was broadcast before. `missing`: there are others between it and the last
 * one. `again`: its number was read before, so Redis has lost its latest writes and the followed state is invalid.
 */
export type Applied = 'ok' | 'missing' | 'again';

/** One market as the broadcasting process follows it: its book, and the changes since the last update. */
export interface FollowedMarket {
  readonly id: MarketId;
  readonly terms: MarketTerms;
  readonly book: Book;
  /** The last command that the book contains. */
  readonly sequence: number;
  /** The trades up to the latest update. */
  readonly counted: CountedState;
  /** Outbox entry before the first one that is not broadcast yet; null when all are. */
  readonly waitingSince: string | null;
  /** `cutAtMs` of the latest update. */
  readonly cutAtMs: number;
  /** False while the book is ahead of the entries read so far. */
  isWhole(): boolean;
  /** Applies one command; `before` is the entry before it. */
  apply(event: CommandEvent, before: string): Applied;
  /** Returns all waiting changes as one update. */
  cut(nowMs: number): Publication;
  /** The trades of the latest update. */
  traded(fills: readonly Fill[]): void;
  /** The market itself changed, and may count other trades: its state as it is now. */
  recounted(state: MarketState): void;
}

/**
 * `first` is the sequence of the next command. The chain of updates continues at the end of the log. It starts again before
 * that command when `restart` is set or the log does not exist.
 */
export function followMarket(
  terms: MarketTerms,
  { state, tail }: BookAndTail,
  first: number,
  restart: boolean,
): FollowedMarket {
  const book = createBook(state);
  const goesOn = tail !== null && !restart && tail.sequence <= state.sequence;
  let broadcast = goesOn ? tail.sequence : first - 1;
  let restarts = !goesOn;
  let sequence = broadcast;
  let readUpTo = 0;
  let waitingSince: string | null = null;
  let cutAtMs = 0;
  let counted: CountedState = state;
  let countedUpTo = state.sequence;
  let timestampMs = 0;
  let reasons = new Set<CommandKind>();
  let latest: CommandKind = 'ORDER';
  const touched = new Map<number, { readonly side: 'b' | 'a'; readonly pricePips: Pips }>();
  let matches: MatchId[] = [];

  function apply(event: CommandEvent, before: string): Applied {
    if (event.sequence <= readUpTo) return 'again';
    readUpTo = event.sequence;
    if (event.sequence <= sequence) return 'ok';
    if (event.sequence !== sequence + 1) return 'missing';
    sequence = event.sequence;
    waitingSince ??= before;
    timestampMs = event.timestampMs;
    latest = event.kind;
    reasons.add(event.kind);
    if (event.tradeMs > 0) matches.push({ tradeMs: event.tradeMs, sequence });
    for (const { side, pricePips, sizeLots, orders } of event.levels) {
      const price = pips(pricePips);
      touched.set(side === 'b' ? pricePips : -pricePips, { side, pricePips: price });
      // The loaded book already contains this command.
      if (sequence > state.sequence) {
        book.set(side, { pricePips: price, sizeLots: lots(sizeLots), orders });
      }
    }
    return 'ok';
  }

  function cut(nowMs: number): Publication {
    const update: BookUpdate = {
      previousSequence: broadcast,
      sequence,
      timestampMs,
      reason: reasonOf(reasons, latest),
      marketChanged: reasons.has('MARKET'),
      bestBid: book.bids[0]?.pricePips ?? null,
      bestAsk: book.asks[0]?.pricePips ?? null,
      checksum: book.checksum(sequence),
      levels: [...touched.entries()].sort(bestFirst).map(([, level]) => changeOf(level)),
      matches,
    };
    const publication = { marketId: terms.id, update, restart: restarts };
    broadcast = sequence;
    restarts = false;
    waitingSince = null;
    cutAtMs = nowMs;
    reasons = new Set();
    matches = [];
    touched.clear();
    return publication;
  }

  const changeOf = ({ side, pricePips }: { side: 'b' | 'a'; pricePips: Pips }): LevelChange => ({
    side,
    pricePips,
    sizeLots: book.sizeAt(side, pricePips),
  });

  return {
    id: terms.id,
    terms,
    book,
    get sequence() {
      return sequence;
    },
    get counted() {
      return counted;
    },
    get waitingSince() {
      return waitingSince;
    },
    get cutAtMs() {
      return cutAtMs;
    },
    isWhole: () => sequence >= state.sequence,
    apply,
    cut,
    recounted: (now) => {
      counted = now;
      countedUpTo = now.sequence;
    },
    traded: (fills) => {
      for (const fill of fills) {
        if (fill.sequence <= countedUpTo) continue;
        counted = {
          volumeMicro: micro(counted.volumeMicro + fill.pricePips * fill.sizeLots),
          lastPips: yesPrice(fill.pricePips, fill.takerOutcome),
          lastTradeMs: fill.tradeMs,
        };
      }
    },
  };
}

/** Bids from the highest down, then asks from the lowest up; bids have positive keys. */
function bestFirst([a]: [number, unknown], [b]: [number, unknown]): number {
  return b - a;
}

/** The most important reason for a reader of the book: a trade, then a change of the market, then the latest change. */
function reasonOf(reasons: ReadonlySet<CommandKind>, latest: CommandKind): CommandKind {
  if (reasons.has('TRADE')) return 'TRADE';
  return reasons.has('MARKET') ? 'MARKET' : latest;
}
