import { applyUpdate, type Book, bookOf, checksumOf } from './book';
import { ExchangeError } from './errors';
import type { Orderbook } from './types';
import type { BookUpdate, SubscribeAck } from './types-live';

/**
 * The logic that keeps one market's book in step, as a pure function: from a state and an event it returns the next state
 * and the effects. It has no clock, no timer and no socket; followed-book.ts runs the effects.
 *
 * An update is applied where `previousSequence <= local < sequence`, and verified by its checksum. HEALING lists what is
 * done about every fault.
 */

/** `live`: in step with the exchange. `stale`: possibly out of step, healing. `reconnecting`: without a connection. */
export type LiveState = 'live' | 'stale' | 'reconnecting';

/**
 * The position of a book: its sequence, and the epoch of that sequence, because in another epoch the same number may belong
 * to another book.
 */
export interface Since {
  readonly lastSequence: number;
  readonly epoch: string;
}

/** A request for the market that is not answered yet; answers to earlier requests are ignored. */
export interface Question {
  readonly number: number;
  /** Null requests a snapshot. */
  readonly since: Since | null;
}

export interface Following {
  /** The longest silence about this market while it is live. */
  readonly silenceMsMax: number;
  readonly book: Book | null;
  /** The epoch in the last answer of the exchange; null when the answer had none. */
  readonly epoch: string | null;
  readonly state: LiveState;
  readonly isConnected: boolean;
  readonly question: Question | null;
  readonly questions: number;
  /** The promised sequence: the book is in step when it has reached it. */
  readonly target: number | null;
  readonly promisedAtMs: number;
  /** Updates are ignored until the next snapshot. */
  readonly needsSnapshot: boolean;
  readonly heardAtMs: number;
  /** 0 while it is not live. */
  readonly liveSinceMs: number;
  /** Failures in a row, without a healthy period between. */
  readonly heals: number;
}

/** Times of the machine's clock. */
type At = { readonly nowMs: number };

export type FollowingEvent =
  | ({ readonly type: 'connected' | 'paused' | 'checked' } & At)
  | ({ readonly type: 'disconnected'; readonly why: string } & At)
  | ({ readonly type: 'answered'; readonly question: number; readonly ack: SubscribeAck | null } & At)
  | ({ readonly type: 'snapshot'; readonly body: Orderbook } & At)
  | ({ readonly type: 'update'; readonly update: BookUpdate } & At)
  | ({ readonly type: 'heartbeat'; readonly sequence: number } & At)
  | ({ readonly type: 'epoch'; readonly epoch: string } & At);

export type Effect =
  | { readonly type: 'ask'; readonly question: Question }
  /** `paused` is due after `pauseMs`; null ends a pause that was begun. */
  | { readonly type: 'pause'; readonly pauseMs: number | null }
  /** The connection does not work: replace it. */
  | { readonly type: 'drop' }
  | { readonly type: 'tellBook'; readonly update: BookUpdate | null }
  | { readonly type: 'tellState'; readonly state: LiveState; readonly why: string }
  | { readonly type: 'tellError'; readonly error: ExchangeError };

export type Step = readonly [Following, readonly Effect[]];

/** The longest time from an answer to the book that it promised. */
export const CATCH_UP_MS_MAX = 3_000;
const HEAL_PAUSE_MS = 250;
const HEAL_PAUSE_MS_MAX = 4_000;
/** After this time in step, the next failure counts as the first again. */
export const HEALTHY_MS = 10_000;

/** The faults of a book: the words for its users, and the request that heals it. */
const HEALING = {
  gap: { why: (sequence: number) => `updates after ${sequence} are missing`, asks: 'what is missing' },
  behind: { why: (sequence: number) => `updates up to ${sequence} are missing`, asks: 'what is missing' },
  silence: { why: () => 'neither an update nor a heartbeat came', asks: 'what is missing' },
  unkept: { why: () => 'what was promised did not come', asks: 'a snapshot' },
  wrongUpdate: { why: () => 'the checksum does not fit', asks: 'a snapshot' },
  wrongSnapshot: { why: () => 'the checksum of a snapshot does not fit', asks: 'a snapshot' },
  otherEpoch: { why: () => 'the exchange has another epoch', asks: 'a snapshot' },
} as const satisfies Readonly<
  Record<string, { why(sequence: number): string; asks: 'what is missing' | 'a snapshot' }>
>;

export const unfollowed = (silenceMsMax: number): Following => ({
  silenceMsMax,
  book: null,
  epoch: null,
  state: 'reconnecting',
  isConnected: false,
  question: null,
  questions: 0,
  target: null,
  promisedAtMs: 0,
  needsSnapshot: true,
  heardAtMs: 0,
  liveSinceMs: 0,
  heals: 0,
});

export function step(before: Following, event: FollowingEvent): Step {
  const { nowMs } = event;
  const now = { ...before, heardAtMs: nowMs };
  switch (event.type) {
    case 'connected':
      return ask({ ...now, isConnected: true });
    case 'disconnected': {
      const gone = { ...before, isConnected: false, question: null, target: null };
      return and(enter(gone, 'reconnecting', event.why, nowMs), { type: 'pause', pauseMs: null });
    }
    case 'paused':
      return before.question === null ? ask(before) : [before, []];
    case 'answered':
      return event.question === before.question?.number
        ? answered({ ...now, question: null }, before.question, event.ack, nowMs)
        : [before, []];
    case 'snapshot':
      return snapshot(now, event.body, nowMs);
    case 'update':
      return update(now, event.update, nowMs);
    case 'heartbeat': {
      const isBehind = now.state === 'live' && now.book !== null && event.sequence > now.book.sequence;
      return isBehind ? heal(now, 'behind', nowMs, event.sequence) : [now, []];
    }
    case 'epoch': {
      // The pending answer may be of the previous history.
      const isOther = before.isConnected && (before.question !== null || event.epoch !== before.epoch);
      return isOther ? heal(before, 'otherEpoch', nowMs) : [before, []];
    }
    case 'checked':
      return checked(before, nowMs);
  }
}

function ask(before: Following): Step {
  if (!before.isConnected) return [before, []];
  const { book, epoch, needsSnapshot } = before;
  const isKnown = !needsSnapshot && book !== null && epoch !== null;
  const question = {
    number: before.questions + 1,
    since: isKnown ? { lastSequence: book.sequence, epoch } : null,
  };
  return [{ ...before, question, questions: question.number, target: null }, [{ type: 'ask', question }]];
}

function answered(before: Following, { since }: Question, ack: SubscribeAck | null, nowMs: number): Step {
  if (ack === null) return [before, [{ type: 'drop' }]];
  if (!ack.ok) return refused(before, ack.error, nowMs);
  const sequence = ack.subscribed[0]?.sequence ?? 0;
  const epoch = ack.epoch ?? null;
  // The exchange may have lost its latest writes: a snapshot follows.
  const isBroken = since !== null && (sequence < since.lastSequence || epoch !== since.epoch);
  const needsSnapshot = before.needsSnapshot || isBroken;
  return settle({ ...before, needsSnapshot, epoch, target: sequence, promisedAtMs: nowMs }, nowMs);
}

function refused(
  before: Following,
  { code, detail }: { readonly code: string; readonly detail: string },
  nowMs: number,
): Step {
  const retryable = code === 'UNAVAILABLE' || code === 'RATE_LIMITED';
  const error = new ExchangeError({ status: 0, code, detail, retryable });
  // A refused request is not repeated unchanged.
  const needsSnapshot = before.needsSnapshot || code === 'INVALID_REQUEST';
  const [next, effects] = askAgain({ ...before, needsSnapshot }, `${code}: ${detail}`, nowMs);
  return [next, [{ type: 'tellError', error }, ...effects]];
}

function snapshot(before: Following, body: Orderbook, nowMs: number): Step {
  const book = bookOf(body);
  if (checksumOf(book) !== body.checksum) return heal(before, 'wrongSnapshot', nowMs);
  // A snapshot that was not requested replaces the book.
  const isUnasked = before.question === null && before.target === null;
  const target = isUnasked ? book.sequence : before.target;
  const [next, effects] = settle({ ...before, book, needsSnapshot: false, target }, nowMs);
  return [next, [{ type: 'tellBook', update: null }, ...effects]];
}

function update(before: Following, change: BookUpdate, nowMs: number): Step {
  const { book, needsSnapshot, question } = before;
  if (book === null || needsSnapshot || change.sequence <= book.sequence) return [before, []];
  if (change.previousSequence > book.sequence) {
    // The pending answer will fill the gap.
    return question === null ? heal(before, 'gap', nowMs, book.sequence) : [before, []];
  }
  const changed = applyUpdate(book, change);
  if (checksumOf(changed) !== change.checksum) return heal(before, 'wrongUpdate', nowMs);
  const [next, effects] = settle({ ...before, book: changed }, nowMs);
  return [next, [{ type: 'tellBook', update: change }, ...effects]];
}

function checked(before: Following, nowMs: number): Step {
  if (!before.isConnected || before.question !== null) return [before, []];
  if (before.state === 'live' && nowMs - before.heardAtMs > before.silenceMsMax)
    return heal(before, 'silence', nowMs);
  if (before.target !== null && nowMs - before.promisedAtMs > CATCH_UP_MS_MAX)
    return heal(before, 'unkept', nowMs);
  return [before, []];
}

/** Becomes live when the book has reached the promised sequence. */
function settle(before: Following, nowMs: number): Step {
  const { target, needsSnapshot, book } = before;
  if (target === null || needsSnapshot || book === null || book.sequence < target) return [before, []];
  return enter({ ...before, target: null }, 'live', 'in step', nowMs);
}

function enter(before: Following, state: LiveState, why: string, nowMs: number): Step {
  if (state === before.state) return [before, []];
  const liveSinceMs = state === 'live' ? nowMs : before.liveSinceMs;
  return [{ ...before, state, liveSinceMs }, [{ type: 'tellState', state, why }]];
}

function heal(before: Following, fault: keyof typeof HEALING, nowMs: number, sequence = 0): Step {
  const { why, asks } = HEALING[fault];
  const needsSnapshot = before.needsSnapshot || asks === 'a snapshot';
  return askAgain({ ...before, needsSnapshot }, why(sequence), nowMs);
}

/** Out of step: requests again, the first time at once, then after pauses that double. */
function askAgain(before: Following, why: string, nowMs: number): Step {
  const isHealthy = before.liveSinceMs > 0 && nowMs - before.liveSinceMs > HEALTHY_MS;
  const heals = isHealthy ? 0 : before.heals;
  const [told, effects] = enter(
    before,
    before.state === 'reconnecting' ? 'reconnecting' : 'stale',
    why,
    nowMs,
  );
  const next = { ...told, heals: heals + 1, liveSinceMs: 0, question: null, target: null };
  if (heals > 0) {
    const pauseMs = Math.min(HEAL_PAUSE_MS * 2 ** (heals - 1), HEAL_PAUSE_MS_MAX);
    return [next, [...effects, { type: 'pause', pauseMs }]];
  }
  const [asked, asking] = ask(next);
  return [asked, [...effects, { type: 'pause', pauseMs: null }, ...asking]];
}

const and = ([next, effects]: Step, effect: Effect): Step => [next, [...effects, effect]];
