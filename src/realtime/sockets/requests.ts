import { ERRORS, Refusal } from '../../exchange/errors';
import type { Logger } from '../../log';
import { presentAck } from '../../wire/answers/events';
import type { ExchangeSocket } from './sockets';

/** The most messages of one socket that wait for their turn, with or without rate limits. */
const QUEUE_MAX = 100;

export type Answer = (body: unknown) => void;
type RequestHandler = (socket: ExchangeSocket, message: unknown, answer: Answer) => Promise<void>;

export interface RequestsOptions {
  readonly handlers: Readonly<Record<string, RequestHandler>>;
  readonly log: Logger;
}

/**
 * Serves the messages of a socket one after the other, so that their effects come in the order in which they were sent. Any
 * message gets an answer if it requests one, also one of an unknown event, and an error has no other effect.
 */
export function serveRequests(socket: ExchangeSocket, { handlers, log }: RequestsOptions): void {
  let turn: Promise<void> = Promise.resolve();
  let queued = 0;
  const unknown = `no such message; the exchange takes ${Object.keys(handlers).join(', ')}`;
  socket.onAny((event: string, ...sent: unknown[]) => {
    if (!Object.hasOwn(handlers, event)) partsOf(sent).answer(presentAck.refused('INVALID_REQUEST', unknown));
  });
  for (const [event, handle] of Object.entries(handlers)) {
    socket.on(event, (...sent: unknown[]) => {
      const { message, answer } = partsOf(sent);
      if (queued >= QUEUE_MAX) {
        answer(
          presentAck.refused(
            'RATE_LIMITED',
            `this socket has ${QUEUE_MAX} unanswered messages; wait for the answers`,
          ),
        );
        return;
      }
      queued++;
      turn = turn
        .then(() => (socket.connected ? handle(socket, message, answer) : undefined))
        .catch((error: unknown) => answer(refusedAck(error, log)))
        .then(() => {
          queued--;
        });
    });
  }
}

/** The acknowledgement is the last argument, if there is one; it is called once. */
function partsOf(sent: readonly unknown[]): { message: unknown; answer: Answer } {
  const last = sent.at(-1);
  const message = typeof sent[0] === 'function' ? undefined : sent[0];
  let answered = false;
  const answer: Answer = (body) => {
    if (answered || typeof last !== 'function') return;
    answered = true;
    last(body);
  };
  return { message, answer };
}

/** Returns a refusal unchanged. Any other error means that Redis does not respond, or a bug, and is only logged. */
export function refusedAck(error: unknown, log: Logger): ReturnType<typeof presentAck.refused> {
  if (error instanceof Refusal) return presentAck.refused(error.code, error.message);
  log.warn({ err: error instanceof Error ? error.message : String(error) }, 'a socket request failed');
  return presentAck.refused('UNAVAILABLE', ERRORS.UNAVAILABLE.title);
}
