import type { Socket } from 'socket.io-client';

/** The pause while `getToken` still returns the expiring token. */
const AGAIN_EVERY_MS = 2_000;
const ANSWER_MS_MAX = 5_000;

/** Returns a wallet's access token, but not `refused`, which has ended or is about to; null for none. */
export type GetToken = (refused: string | null) => Promise<string | null> | string | null;

export interface RenewalOptions {
  readonly getToken: GetToken | undefined;
  /** The present token of the socket. */
  readonly current: () => string | null;
  readonly renewed: (token: string) => void;
}

export interface Renewal {
  /** Called when the socket's token is about to expire. */
  now(): void;
  stop(): void;
}

/** Continues the socket under the next token, without a break; if there is none in time, the socket reconnects later. */
export function createRenewal(socket: Socket, { getToken, current, renewed }: RenewalOptions): Renewal {
  let timer: ReturnType<typeof setTimeout> | undefined;

  function now(): void {
    clearTimeout(timer);
    const ending = current();
    Promise.resolve()
      .then(() => getToken?.(ending) ?? null)
      .catch(() => null)
      .then((token) => {
        if (!socket.connected || ending === null || current() !== ending) return;
        if (token === null || token === ending) again();
        else send(token);
      });
  }

  function send(token: string): void {
    socket
      .timeout(ANSWER_MS_MAX)
      .emit('renew', { token }, (error: Error | null, ack?: { readonly ok: boolean }) => {
        if (!error && ack?.ok) renewed(token);
        else if (socket.connected) again();
      });
  }

  function again(): void {
    timer = setTimeout(now, AGAIN_EVERY_MS);
  }

  return { now, stop: () => clearTimeout(timer) };
}
