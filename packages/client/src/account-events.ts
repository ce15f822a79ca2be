import type { Socket } from 'socket.io-client';
import { type AccountPosition, createAccountPosition } from './account-position';
import type { AccountNumbers, AccountResumed, ExchangeState } from './types-live';
import { callUser } from './user-code';

type Handler = (body: unknown) => void;

const EVENTS = ['order:update', 'trade:update', 'balance:update'];

export interface AccountEvents extends Pick<AccountPosition, 'resume' | 'forget'> {
  /** The handlers of a private event; undefined for any other event. */
  handlersOf(event: string): Set<Handler> | undefined;
}

/** The private events of a socket, each once and in order. If one is missing, another connection begins with it. */
export function createAccountEvents(socket: Socket): AccountEvents {
  const position = createAccountPosition();
  const handlers = new Map(EVENTS.map((event) => [event, new Set<Handler>()]));
  for (const [event, own] of handlers) {
    socket.on(event, (body: AccountNumbers) => {
      const taken = position.take(body);
      if (taken === 'missing') socket.io.engine?.close();
      if (taken !== 'new') return;
      for (const handler of [...own]) callUser(() => handler(body));
    });
  }
  socket.on('exchange:update', ({ epoch }: ExchangeState) => position.epoch(epoch));
  socket.on('account:resumed', ({ accountSequence }: AccountResumed) => position.begin(accountSequence));
  return {
    resume: position.resume,
    forget: position.forget,
    handlersOf: (event) => handlers.get(event),
  };
}
