import type { Book } from './book';
import type { ExchangeError } from './errors';
import {
  type Effect,
  type Following,
  type FollowingEvent,
  type LiveState,
  type Question,
  type Since,
  step,
  unfollowed,
} from './following';
import type { Orderbook } from './types';
import type { BookUpdate, Heartbeat, SubscribeAck } from './types-live';

export interface FollowedEvents {
  onBook(update: BookUpdate | null): void;
  onState(state: LiveState, why: string): void;
  onError(error: ExchangeError): void;
}

/** The requests of a book for its market. */
export interface Link {
  /** Requests the updates after `since`, or a snapshot; the acknowledgement comes before either. Null: no answer in time. */
  subscribe(conditionId: string, since: Since | null, answer: (ack: SubscribeAck | null) => void): void;
  /** Replaces a connection that does not work. */
  drop(): void;
}

export interface FollowedOptions {
  readonly conditionId: string;
  readonly link: Link;
  readonly events: FollowedEvents;
  /** The longest silence about this market while it is live. */
  readonly silenceMsMax: number;
}

/** Keeps one market's book in step: it receives events, and reports the state of the book. */
export interface FollowedBook {
  readonly conditionId: string;
  book(): Book | null;
  state(): LiveState;
  connected(): void;
  disconnected(why: string): void;
  snapshot(body: Orderbook): void;
  update(update: BookUpdate): void;
  heartbeat(beat: Heartbeat): void;
  /** The exchange reports that its history was broken. */
  epoch(name: string): void;
  /** Call it about once a second. */
  check(): void;
  /** Stops permanently. */
  stop(): void;
}

export function createFollowedBook({
  conditionId,
  link,
  events,
  silenceMsMax,
}: FollowedOptions): FollowedBook {
  let following: Following = unfollowed(silenceMsMax);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  /** Effects for the handlers, in the order of their events. */
  const notices: Effect[] = [];
  let isNotifying = false;

  /** An event without its time. */
  type Untimed<E> = E extends unknown ? Omit<E, 'nowMs'> : never;

  function happen(event: Untimed<FollowingEvent>): void {
    const [next, effects] = step(following, { ...event, nowMs: Date.now() });
    following = next;
    // What heals the book comes before the handlers of its users, and may lead to the next event at once.
    notices.push(...effects.filter(isTold));
    for (const effect of effects) if (!isTold(effect)) run(effect);
    if (isNotifying) return;
    isNotifying = true;
    try {
      // A handler may have stopped the book.
      for (let next = notices.shift(); next && !isStopped; next = notices.shift()) run(next);
    } finally {
      isNotifying = false;
    }
  }

  function ask({ number, since }: Question): void {
    // A handler may have ended the connection.
    if (following.question?.number !== number) return;
    link.subscribe(conditionId, since, (ack) => happen({ type: 'answered', question: number, ack }));
  }

  function pause(pauseMs: number | null): void {
    clearTimeout(timer);
    if (pauseMs !== null) timer = setTimeout(happen, pauseMs, { type: 'paused' });
  }

  const isTold = ({ type }: Effect): boolean => type.startsWith('tell');

  function run(effect: Effect): void {
    if (effect.type === 'ask') ask(effect.question);
    else if (effect.type === 'pause') pause(effect.pauseMs);
    else if (effect.type === 'drop') link.drop();
    else if (effect.type === 'tellBook') events.onBook(effect.update);
    else if (effect.type === 'tellState') events.onState(effect.state, effect.why);
    else events.onError(effect.error);
  }

  return {
    conditionId,
    book: () => following.book,
    state: () => following.state,
    connected: () => happen({ type: 'connected' }),
    disconnected: (why) => happen({ type: 'disconnected', why }),
    snapshot: (body) => happen({ type: 'snapshot', body }),
    update: (update) => happen({ type: 'update', update }),
    heartbeat: ({ sequence }) => happen({ type: 'heartbeat', sequence }),
    epoch: (epoch) => happen({ type: 'epoch', epoch }),
    check: () => happen({ type: 'checked' }),
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
