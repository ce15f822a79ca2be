import { applyUpdate, type Book, bookOf, checksumOf } from './book';
import { ExchangeError } from './errors';
import type { Orderbook } from './types';
import type { BookUpdate, Heartbeat, SubscribeAck } from './types-live';

/** `live`: in step with the exchange. `stale`: it may not be, healing. `reconnecting`: there is no connection yet. */
export type LiveState = 'live' | 'stale' | 'reconnecting';

export interface FollowedEvents {
  onBook(update: BookUpdate | null): void;
  onState(state: LiveState, why: string): void;
  onError(error: ExchangeError): void;
}

/**
 * The state of a book: its sequence, and the epoch it belongs to, because in another epoch the same number may mean
 * another book.
 */
export interface Since {
  readonly lastSequence: number;
  readonly epoch: string;
}

/** How a book asks for its market. */
export interface Link {
  /** Asks for what follows `since`, or for a snapshot; the answer comes before either. Null: no answer in time. */
  subscribe(conditionId: string, since: Since | null, answer: (ack: SubscribeAck | null) => void): void;
  /** Ends a connection that is of no use, for a new one. */
  drop(): void;
}

export interface FollowedOptions {
  readonly conditionId: string;
  readonly link: Link;
  readonly events: FollowedEvents;
  /** Longest without a word of this market, while live. */
  readonly silenceMsMax: number;
}

/** Longest from an answer to the book it promised. */
const CATCH_UP_MS_MAX = 3_000;
const HEAL_PAUSE_MS = 250;
const HEAL_PAUSE_MS_MAX = 4_000;
/** In step for so long, the next failure is a first one again. */
const HEALTHY_MS = 10_000;

export type FollowedBook = ReturnType<typeof createFollowedBook>;

/**
 * One market's book kept in step: an update is applied where `previousSequence <= local < sequence` and proven by its
 * checksum. Whatever does not fit is healed by asking again, for what is missing or for a snapshot.
 */
export function createFollowedBook({ conditionId, link, events, silenceMsMax }: FollowedOptions) {
  let book: Book | null = null;
  /** Of the exchange when it was asked last; null when it did not say. */
  let epoch: string | null = null;
  let state: LiveState = 'reconnecting';
  let isConnected = false;
  /** Asked, not answered; answers to earlier questions are not heard. */
  let asking: symbol | null = null;
  /** Answered: in step when the book has come this far. */
  let target: number | null = null;
  let promisedAtMs = 0;
  /** Updates are of no use until the next snapshot. */
  let needsSnapshot = true;
  let heardAtMs = 0;
  let liveSinceMs = 0;
  let heals = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function enter(next: LiveState, why: string): void {
    if (next === state) return;
    state = next;
    if (next === 'live') liveSinceMs = Date.now();
    events.onState(next, why);
  }

  function ask(): void {
    if (!isConnected) return;
    const question = Symbol(conditionId);
    asking = question;
    target = null;
    const since =
      needsSnapshot || book === null || epoch === null ? null : { lastSequence: book.sequence, epoch };
    link.subscribe(conditionId, since, (ack) => {
      if (asking !== question) return;
      asking = null;
      heardAtMs = Date.now();
      if (ack === null) link.drop();
      else if (ack.ok) accept(ack.subscribed[0]?.sequence ?? 0, ack.epoch ?? null, since);
      else refuse(ack.error);
    });
  }

  function accept(sequence: number, told: string | null, since: Since | null): void {
    target = sequence;
    epoch = told;
    promisedAtMs = Date.now();
    // The exchange has lost its latest writes, perhaps: a snapshot follows.
    if (since !== null && (sequence < since.lastSequence || told !== since.epoch)) needsSnapshot = true;
    settle();
  }

  function refuse({ code, detail }: { readonly code: string; readonly detail: string }): void {
    const retryable = code === 'UNAVAILABLE' || code === 'RATE_LIMITED';
    events.onError(new ExchangeError({ status: 0, code, detail, retryable }));
    // A refused request is not repeated unchanged.
    heal(`${code}: ${detail}`, code === 'INVALID_REQUEST');
  }

  function settle(): void {
    if (target === null || needsSnapshot || book === null || book.sequence < target) return;
    target = null;
    enter('live', 'in step');
  }

  /** Out of step: asks again, at once the first time. */
  function heal(why: string, fresh = false): void {
    if (fresh) needsSnapshot = true;
    enter(state === 'reconnecting' ? 'reconnecting' : 'stale', why);
    if (liveSinceMs > 0 && Date.now() - liveSinceMs > HEALTHY_MS) heals = 0;
    const waitMs = heals === 0 ? 0 : Math.min(HEAL_PAUSE_MS * 2 ** (heals - 1), HEAL_PAUSE_MS_MAX);
    heals++;
    liveSinceMs = 0;
    asking = null;
    target = null;
    clearTimeout(timer);
    if (waitMs === 0) ask();
    else timer = setTimeout(ask, waitMs);
  }

  return {
    conditionId,
    book: () => book,
    state: () => state,

    connected(): void {
      isConnected = true;
      heardAtMs = Date.now();
      ask();
    },

    disconnected(why: string): void {
      isConnected = false;
      asking = null;
      target = null;
      clearTimeout(timer);
      enter('reconnecting', why);
    },

    snapshot(body: Orderbook): void {
      heardAtMs = Date.now();
      const next = bookOf(body);
      if (checksumOf(next) !== body.checksum) {
        heal('the checksum of a snapshot does not fit', true);
        return;
      }
      book = next;
      needsSnapshot = false;
      events.onBook(null);
      // Sent without having been asked for, it stands for itself.
      if (asking === null && target === null) target = next.sequence;
      settle();
    },

    update(update: BookUpdate): void {
      heardAtMs = Date.now();
      if (book === null || needsSnapshot || update.sequence <= book.sequence) return;
      if (update.previousSequence > book.sequence) {
        // The pending answer will fill it.
        if (asking === null) heal(`updates after ${book.sequence} are missing`);
        return;
      }
      const next = applyUpdate(book, update);
      if (checksumOf(next) !== update.checksum) {
        heal('the checksum does not fit', true);
        return;
      }
      book = next;
      events.onBook(update);
      settle();
    },

    heartbeat({ sequence }: Heartbeat): void {
      heardAtMs = Date.now();
      if (state !== 'live' || book === null || sequence <= book.sequence) return;
      heal(`updates up to ${sequence} are missing`);
    },

    /** The exchange says that its history was broken; what was asked before may be answered of the one before. */
    epoch(name: string): void {
      if (isConnected && (asking !== null || name !== epoch)) heal('the exchange has another epoch', true);
    },

    /** To be called every second or so. */
    check(): void {
      if (!isConnected || asking !== null) return;
      const nowMs = Date.now();
      if (state === 'live' && nowMs - heardAtMs > silenceMsMax) {
        heal('neither an update nor a heartbeat came');
      } else if (target !== null && nowMs - promisedAtMs > CATCH_UP_MS_MAX) {
        heal('what was promised did not come', true);
      }
    },

    stop(): void {
      isConnected = false;
      asking = null;
      clearTimeout(timer);
    },
  };
}
