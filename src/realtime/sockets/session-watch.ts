import type { Logger } from '../../log';
import { EVENTS, presentExpiring, presentSessionEnd } from '../../wire/answers/events';
import { repeat } from './repeat';
import type { ExchangeServer, ExchangeSocket } from './sockets';

/**
 * The interval in which every session with sockets here is checked. A logout is announced at once; this check catches
 * missed announcements.
 */
const CHECK_EVERY_MS = 1_000;
const TOGETHER_MAX = 500;
/** The time between the warning and the end of a socket. */
const WARN_BEFORE_MS = 60_000;
/** The longest a timer can wait. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export interface SessionWatchDeps {
  readonly io: ExchangeServer;
  readonly isLive: (sid: string) => Promise<boolean>;
  /** The clock that dates the tokens. */
  readonly now: () => number;
  readonly log: Logger;
}

export interface SessionWatch {
  /** Warns the socket before its token ends, and then closes it; starts again when the socket gets another token. */
  watch(socket: ExchangeSocket): void;
  /** Closes the sockets of a session in this process. */
  end(sid: string, code?: 'TOKEN_INVALID' | 'TOKEN_EXPIRED'): void;
  start(): void;
  stop(): Promise<void>;
}

/** Ensures that no socket outlives its session, whether the token expires, the wallet logs out, or the session ends otherwise. */
export function createSessionWatch({ io, isLive, now, log }: SessionWatchDeps): SessionWatch {
  /** The next due event of each socket. */
  const timers = new Map<string, NodeJS.Timeout>();

  function end(sid: string, code: 'TOKEN_INVALID' | 'TOKEN_EXPIRED' = 'TOKEN_INVALID'): void {
    for (const socket of socketsHere()) if (socket.data.owner?.sid === sid) endSocket(socket, code);
  }

  const socketsHere = (): Iterable<ExchangeSocket> => io.sockets.sockets.values();

  async function check(): Promise<void> {
    const sids = [...new Set([...socketsHere()].flatMap(({ data }) => data.owner?.sid ?? []))];
    for (let from = 0; from < sids.length; from += TOGETHER_MAX) {
      await Promise.all(
        sids.slice(from, from + TOGETHER_MAX).map(async (sid) => {
          if (!(await isLive(sid))) end(sid);
        }),
      );
    }
  }

  function forget({ id }: ExchangeSocket): void {
    clearTimeout(timers.get(id));
    timers.delete(id);
  }

  /** Waits for the warning, then for the end. A wait that is too long for one timer takes several. */
  function awaitEnd(socket: ExchangeSocket, expiresAtMs: number, isWarned: boolean): void {
    const leftMs = Math.max(0, expiresAtMs - now() - (isWarned ? 0 : WARN_BEFORE_MS));
    const due = (): void => {
      const isDue = leftMs <= TIMER_MAX_MS;
      if (isDue && isWarned) {
        endSocket(socket, 'TOKEN_EXPIRED');
        return;
      }
      if (isDue) socket.emit(EVENTS.sessionExpiring, presentExpiring(expiresAtMs));
      awaitEnd(socket, expiresAtMs, isDue);
    };
    timers.set(socket.id, setTimeout(due, Math.min(leftMs, TIMER_MAX_MS)));
  }

  const checks = repeat(CHECK_EVERY_MS, check, (error) =>
    log.debug({ err: error.message }, 'sessions could not be checked'),
  );

  return {
    end,
    watch: (socket) => {
      const { owner } = socket.data;
      if (!owner || !socket.connected) return;
      if (!timers.has(socket.id)) socket.once('disconnect', () => forget(socket));
      forget(socket);
      if (Number.isFinite(owner.expiresAtMs)) awaitEnd(socket, owner.expiresAtMs, false);
    },
    start: checks.start,
    stop: () => {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      return checks.stop();
    },
  };
}

/** The client receives the reason and does not reconnect by itself, because its token is no longer valid. */
function endSocket(socket: ExchangeSocket, code: 'TOKEN_INVALID' | 'TOKEN_EXPIRED'): void {
  socket.emit(EVENTS.sessionEnded, presentSessionEnd(code));
  socket.disconnect(true);
}
