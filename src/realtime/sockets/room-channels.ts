import type { createShardedAdapter } from '@socket.io/redis-adapter';
import type { RedisClient } from '../../store/redis/scripts';
import { TO_ROOM } from '../messages';

type Adapter = ReturnType<ReturnType<typeof createShardedAdapter>>;

/** Two methods of the adapter that its types hide: the channel of a message, and that of a room. */
interface Channels {
  computeChannel(message: { readonly data?: { readonly packet?: unknown } }): string;
  dynamicChannel(room: string): string;
}

/**
 * The adapter subscribes to the channel of a room while it has sockets in the room, but sends the messages between replicas
 * (`serverSideEmit`) to all of them. Those of TO_ROOM, whose first member is a room, go to the room's channel: Redis then
 * passes them only to the replicas with sockets there. If the adapter named its methods otherwise, every replica would
 * hear them, and drop what it does not follow.
 */
export function sendToRooms(adapter: Adapter): Adapter {
  const channels = adapter as unknown as Channels;
  const usual = channels.computeChannel.bind(adapter);
  channels.computeChannel = (message) => {
    const packet = message.data?.packet;
    return Array.isArray(packet) && TO_ROOM.has(packet[0])
      ? channels.dynamicChannel(packet[1])
      : usual(message);
  };
  return adapter;
}

/** The pause before a failed subscription is tried again. */
const RETRY_MS = 1_000;

type Subscribe = (channel: string) => Promise<unknown>;

/**
 * Reports each subscription of the adapter once Redis has confirmed it: the first one of a channel, and that after a lost
 * connection. One that fails is tried again, because the sockets of the room rely on it.
 */
export function hearRooms(subscriber: RedisClient, onError: (error: Error) => void) {
  const client = subscriber as unknown as { ssubscribe: Subscribe; sunsubscribe: Subscribe };
  const [subscribe, unsubscribe] = [client.ssubscribe.bind(client), client.sunsubscribe.bind(client)];
  const wanted = new Set<string>();
  const retries = new Set<NodeJS.Timeout>();
  let closed = false;
  let hearing = (_room: string): void => {};

  async function attempt(channel: string): Promise<void> {
    try {
      await subscribe(channel);
      if (wanted.has(channel)) hearing(roomOfChannel(channel));
    } catch (error) {
      onError(error as Error);
      if (closed || !wanted.has(channel)) return;
      const timer = setTimeout(() => {
        retries.delete(timer);
        if (wanted.has(channel)) void attempt(channel);
      }, RETRY_MS);
      retries.add(timer);
    }
  }

  client.ssubscribe = (channel) => {
    wanted.add(channel);
    return attempt(channel);
  };
  client.sunsubscribe = (channel) => {
    wanted.delete(channel);
    return unsubscribe(channel);
  };
  return {
    onHearing: (listener: (room: string) => void): void => {
      hearing = listener;
    },
    close: (): void => {
      closed = true;
      for (const timer of retries) clearTimeout(timer);
    },
  };
}

/** `<prefix>#<namespace>#<room>#`; empty for the channel of all replicas. */
const roomOfChannel = (channel: string): string => channel.split('#')[2] ?? '';
