import type { ExchangeServer, SocketOwner } from './sockets';

/** The sockets of this process, by their rooms and by their owners. */
export interface Audience {
  /** To the sockets of this process that are in the room, but not in the other one. */
  emit(room: string, event: string, body: unknown, except?: string): void;
  isHeard(room: string): boolean;
  /** One entry for each socket that has an owner. */
  owners(): SocketOwner[];
}

export function createAudience(io: ExchangeServer): Audience {
  const isHeard = (room: string): boolean => io.sockets.adapter.rooms.has(room);
  return {
    isHeard,
    emit(room, event, body, except) {
      if (!isHeard(room)) return;
      const sockets = io.local.to(room);
      (except === undefined ? sockets : sockets.except(except)).emit(event, body);
    },
    owners: () => [...io.sockets.sockets.values()].flatMap(({ data }) => data.owner ?? []),
  };
}
