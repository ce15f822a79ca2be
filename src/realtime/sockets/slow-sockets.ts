import type { Logger } from '../../log';
import { cutSocket, type ExchangeServer, type ExchangeSocket, unsentBytes } from './sockets';

/** A socket with more unsent bytes is disconnected (docs/use/interface.md, Limits). */
const UNSENT_MAX = 1_000_000;
/** Two checks in a row, because one large snapshot may be in transit. */
const CHECK_EVERY_MS = 250;

/** Disconnects sockets that do not take their messages, before they use up memory. */
export function createSlowSocketGuard(io: ExchangeServer, log: Logger): { start(): void; stop(): void } {
  let suspects = new WeakSet<ExchangeSocket>();
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    const seen = new WeakSet<ExchangeSocket>();
    for (const socket of io.sockets.sockets.values()) {
      const unsent = unsentBytes(socket);
      if (unsent <= UNSENT_MAX) continue;
      if (!suspects.has(socket)) {
        seen.add(socket);
        continue;
      }
      log.warn({ socket: socket.id, unsent }, 'a slow socket was disconnected');
      cutSocket(socket);
    }
    suspects = seen;
  }

  return {
    start: () => {
      timer = setInterval(check, CHECK_EVERY_MS);
    },
    stop: () => clearInterval(timer),
  };
}
