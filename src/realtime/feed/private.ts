import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log';
import type { AccountLogReads, Grown, NumberedEvent } from '../../store/outbox/account-log';
import { EVENTS, presentNumbered, presentResumed } from '../../wire/answers/events';
import { repeat } from '../sockets/repeat';
import { type ExchangeSocket, type PrivatePosition, unsentBytes } from '../sockets/sockets';
import type { AccountBodies } from './account-bodies';

/** Events read in one call; those of one order become one message. */
const STEP = 200;
/** The interval in which the logs of the wallets here are checked, in case a message between the replicas was lost. */
const LOOK_EVERY_MS = 5_000;
/** The interval in which their logs are kept open. */
const OPEN_EVERY_MS = 600_000;
const RETRY_MS = 200;
/** The most attempts for one step: a failure of Redis passes, and an unreadable record must not block the later events. */
const FAILURES_MAX = 50;
/** Before the next step of a replay, the socket must have taken most of the bytes that it was sent. */
const UNSENT_MAX = 256 * 1024;
const DRAIN_POLL_MS = 20;

export interface PrivateFeedDeps {
  readonly accounts: AccountLogReads;
  readonly bodies: AccountBodies;
  readonly log: Logger;
  /** Emits to the sockets of one wallet in this process. */
  readonly emit: (address: string, event: string, body: unknown) => void;
  /** Whether this process has a socket of the wallet (lower case). */
  readonly isHere: (address: string) => boolean;
  /** From now on the socket receives the events of its wallet. */
  readonly join: (socket: ExchangeSocket, address: string) => void;
}

/** A wallet with sockets in this process; `cursor` is the number of the last event that they received. */
interface Followed {
  readonly address: string;
  cursor: number;
  /** One step at a time. */
  turn: Promise<void>;
  isWaiting: boolean;
  /** The balances could not be read: their latest event is behind the cursor. */
  owesBalance: boolean;
  /** The number of sockets that are being admitted. */
  entering: number;
  openedMs: number;
}

export interface PrivateFeed {
  /** Returns where a socket begins: after `last`, a number that its client has, or now. It receives all later events. */
  position(address: string, last: number | null): Promise<Omit<PrivatePosition, 'isAsked'>>;
  /** Sends the socket the events that it missed, and from then on all events. */
  enter(socket: ExchangeSocket, address: string, position: PrivatePosition): Promise<void>;
  /** Called when a log has grown. */
  receive(grown: Grown): void;
  /** This process learns from now on when the wallet's log grows, and may have missed earlier growth. */
  hearing(address: string): void;
  /** Called when messages may have been lost: reads the logs of all wallets here. */
  lookNow(): void;
  start(): void;
  stop(): Promise<void>;
}

/** Sends wallets their orders, trades and balances, from their logs and under the numbers of the logs. */
export function createPrivateFeed(deps: PrivateFeedDeps): PrivateFeed {
  const { accounts, bodies, log, emit, isHere, join } = deps;
  const followed = new Map<string, Followed>();
  let stopped = false;

  async function position(address: string, last: number | null): Promise<Omit<PrivatePosition, 'isAsked'>> {
    const log = await accounts.open(address);
    const isKnown = last !== null && log.first <= last && last <= log.last;
    return { from: isKnown ? last : log.last, at: log.last, isResumed: isKnown };
  }

  async function enter(socket: ExchangeSocket, address: string, start: PrivatePosition): Promise<void> {
    const known = followed.get(address);
    const wallet = known ?? {
      address,
      cursor: start.at,
      turn: Promise.resolve(),
      isWaiting: false,
      owesBalance: false,
      entering: 0,
      openedMs: performance.now(),
    };
    followed.set(address, wallet);
    wallet.entering++;
    if (start.isAsked) {
      socket.emit(EVENTS.resumed, presentResumed(start.from, start.isResumed));
    }
    const turn = wallet.turn.then(async () => {
      // The others are brought to the end of this log first, so that all continue from one number.
      await advance(wallet);
      await replay(socket, wallet, start.from);
      if (socket.connected) join(socket, address);
    });
    wallet.turn = turn.catch(() => undefined);
    await turn.finally(() => wallet.entering--);
  }

  async function replay(socket: ExchangeSocket, wallet: Followed, from: number): Promise<void> {
    let at = from;
    while (socket.connected && at < wallet.cursor) {
      const { events, gap } = await read(wallet.address, at);
      const before = events.filter(({ number }) => number <= wallet.cursor);
      if (before.length === 0) return;
      const due = wallet.owesBalance ? before.filter(({ event }) => event.kind !== 'balance') : before;
      const { at: next } = await sendEvents(
        wallet.address,
        { from: at, gap },
        due,
        (event, body) => void socket.emit(event, body),
      );
      if (next === at) {
        // The rest waits for the balances. All sockets get it then; those that have it already ignore its numbers.
        wallet.cursor = at;
        return;
      }
      at = next;
      while (socket.connected && unsentBytes(socket) > UNSENT_MAX) await sleep(DRAIN_POLL_MS);
    }
  }

  async function read(address: string, from: number) {
    const [events, gap] = await Promise.all([accounts.since(address, from, STEP), accounts.gap(address)]);
    return { events, gap };
  }

  /** Sends events up to the end of the wallet's log. */
  async function advance(wallet: Followed): Promise<void> {
    for (let failures = 0; !stopped && isHere(wallet.address); ) {
      try {
        const { events, gap } = await read(wallet.address, wallet.cursor);
        const last = events.at(-1);
        if (!last) {
          wallet.owesBalance = false;
          return;
        }
        const isReadable = failures < FAILURES_MAX;
        const from = wallet.cursor;
        const { at, isWhole } = isReadable
          ? await sendEvents(wallet.address, { from, gap }, events, (event, body) =>
              emit(wallet.address, event, body),
            )
          : { at: last.number, isWhole: true };
        wallet.cursor = at;
        wallet.owesBalance = !isWhole;
        failures = 0;
        // The next event or the next look reads again the events that wait for the balances.
        if (events.length < STEP || wallet.cursor === from) return;
      } catch (error) {
        failures++;
        log.warn({ err: String(error), at: wallet.cursor }, 'a private channel waits');
        await sleep(RETRY_MS);
      }
    }
    wallet.cursor = await endOf(wallet);
    wallet.owesBalance = false;
  }

  /** There is no socket to receive these events, and a socket that enters has its own position. */
  async function endOf(wallet: Followed): Promise<number> {
    const [end] = await accounts.ends([wallet.address]);
    return Math.max(wallet.cursor, end ?? 0);
  }

  /**
   * Sends the messages of some events. Several events about one order or the balance become one. The first one behind `gap`,
   * the number below which the log may miss events, does not continue the number before it, so that the client notices.
   * Returns the position after them; when the balances could not be read, that of the last message.
   */
  async function sendEvents(
    address: string,
    { from, gap }: { readonly from: number; readonly gap: number },
    events: readonly NumberedEvent[],
    send: (event: string, body: object) => void,
  ): Promise<{ readonly at: number; readonly isWhole: boolean }> {
    const { messages, waitsFor } = await bodies(address, events);
    let previous = from;
    for (const { number, event, body } of messages) {
      if (previous < gap && gap <= number) previous = gap - 1;
      send(event, presentNumbered(body, number, previous));
      previous = number;
    }
    if (waitsFor) {
      log.debug({ err: waitsFor.message, at: previous }, 'the balances of a wallet wait');
      return { at: previous, isWhole: false };
    }
    return { at: Math.max(previous, events.at(-1)?.number ?? 0), isWhole: true };
  }

  function come(wallet: Followed): void {
    if (wallet.isWaiting) return;
    wallet.isWaiting = true;
    wallet.turn = wallet.turn
      .then(() => {
        wallet.isWaiting = false;
        return isHere(wallet.address) ? advance(wallet) : undefined;
      })
      .catch((error: unknown) => log.debug({ err: String(error) }, 'a private channel waits'));
  }

  async function look(): Promise<void> {
    for (const [address, wallet] of followed) {
      if (wallet.entering === 0 && !isHere(address)) followed.delete(address);
    }
    const wallets = [...followed.values()];
    const ends = await accounts.ends(wallets.map(({ address }) => address));
    for (const [i, wallet] of wallets.entries()) {
      const end = ends[i];
      if (end === undefined) continue;
      const isDue = performance.now() - wallet.openedMs > OPEN_EVERY_MS;
      if (end === null || isDue) await keepOpen(wallet);
      // Redis has lost its latest writes, and the sockets receive the new epoch.
      else if (end < wallet.cursor) wallet.cursor = end;
      else if (end > wallet.cursor) come(wallet);
    }
  }

  async function keepOpen(wallet: Followed): Promise<void> {
    const { first, last } = await accounts.open(wallet.address);
    wallet.openedMs = performance.now();
    if (first > wallet.cursor || last < wallet.cursor) wallet.cursor = last;
    come(wallet);
  }

  const looks = repeat(LOOK_EVERY_MS, look, (error) =>
    log.debug({ err: error.message }, 'the private channels wait'),
  );

  return {
    position,
    enter,
    receive: ([address, number]) => {
      const wallet = followed.get(address);
      if (wallet && number > wallet.cursor) come(wallet);
    },
    hearing: (address) => {
      const wallet = followed.get(address);
      if (wallet) come(wallet);
    },
    lookNow: () => void look().catch(() => undefined),
    start: looks.start,
    stop: () => {
      stopped = true;
      return looks.stop();
    },
  };
}
