import type { ExchangeServer, SocketOwner } from './sockets';

/** The sockets of this process, by their rooms and by their owners. */
export interface Audience {
  /** To the sockets of this process in the room. */
  emit(room: string, event: string, body: unknown): void;
  isHeard(room: string): boolean;
  /** One for each socket that has an owner. */
  owners(): SocketOwner[];
}

export function createAudience(io: ExchangeServer): Audience {
  const isHeard = (room: string): boolean => io.sockets.adapter.rooms.has(room);
  return {
    isHeard,
    emit(room, event, body) {
      if (isHeard(room)) io.local.to(room).emit(event, body);
    },
    owners: () => [...io.sockets.sockets.values()].flatMap(({ data }) => data.owner ?? []),
  };
}
