import { createShardedAdapter } from '@socket.io/redis-adapter';
import type { Server } from 'socket.io';
import { createOutboxPolling, createOutboxReader, type OutboxReader } from '../../store/outbox/reader';
import { databaseOf } from '../../store/redis/address';
import { connect, disconnect } from '../../store/redis/connection';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient } from '../../store/redis/scripts';
import { hearRooms, sendToRooms } from './room-channels';

export interface LinksOptions {
  readonly urls: readonly string[];
  readonly tlsCa: string | null;
  /** The replicas that must have confirmed what a reader returns. */
  readonly replicas: number;
  /** Whether this exchange has several outboxes. */
  readonly severalOutboxes: boolean;
  readonly onError: (error: Error) => void;
}

/** Each may wait for new entries while the other does. */
export interface OutboxReaders {
  readonly broadcast: OutboxReader;
  /** Reader of the process that writes the wallets' logs. */
  readonly accounts: OutboxReader;
}

/** The connections of a web process besides the one for commands, and the adapter that joins the replicas. */
export interface Links {
  /** Socket.IO's adapter: a replica receives the messages to a room only while it has sockets in the room. */
  readonly adapter: Parameters<Server['adapter']>[0] & object;
  /** One outbox is read by two connections that its readers block; several by one that nothing blocks. */
  readersOf(keys: Keys): OutboxReaders;
  /** Called whenever messages of other replicas may have been missed. */
  onBack(listener: () => void): void;
  /** Called whenever Redis has confirmed that it sends this replica a room's messages; it may have missed earlier ones. */
  onHearing(listener: (room: string) => void): void;
  close(): void;
}

/** Adapter calls whose promises are ignored: without Redis they fail, and a later call repeats their message. */
const UNWATCHED = ['spublish', 'ssubscribe', 'sunsubscribe'] as const;
/** The connection is back; on a cluster, that of one node. */
const BACK = ['ready', 'subscribersReady'] as const;

export function createLinks({ urls, tlsCa, replicas, severalOutboxes, onError }: LinksOptions): Links {
  const open = (subscriber = false) => connect({ urls, tlsCa, blocking: true, subscriber, onError });
  const publisher = quiet(open(), onError);
  const subscriber = open(true);
  const readers = severalOutboxes ? [connect({ urls, tlsCa, onError })] : [open(), open()];
  // Publish and subscribe ignore database numbers: two exchanges on two databases of one Redis must not mix.
  const channelPrefix = `socket.io:${databaseOf(urls)}`;
  const rooms = hearRooms(subscriber, onError);
  const adapter = createShardedAdapter(publisher, quiet(subscriber, onError), {
    channelPrefix,
    subscriptionMode: 'dynamic',
  });
  return {
    // Socket.IO calls it with `new`, so it is no arrow function.
    adapter: function adapterOf(namespace) {
      return sendToRooms(adapter(namespace));
    },
    readersOf: readersOn(readers, replicas),
    onBack: (listener) => {
      for (const event of BACK) subscriber.on(event, listener);
    },
    onHearing: rooms.onHearing,
    close: () => {
      rooms.close();
      for (const client of [publisher, subscriber, ...readers]) disconnect(client);
    },
  };
}

function readersOn([first, second]: readonly RedisClient[], replicas: number): Links['readersOf'] {
  if (!first) throw new Error('no connection for the outbox');
  if (!second) {
    const polled = createOutboxPolling(first);
    return (keys) => ({ broadcast: polled(keys), accounts: polled(keys) });
  }
  return (keys) => ({
    broadcast: createOutboxReader({ redis: first, keys, replicas }),
    accounts: createOutboxReader({ redis: second, keys, replicas }),
  });
}

function quiet(client: RedisClient, onError: (error: Error) => void): RedisClient {
  const methods = client as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of UNWATCHED) {
    const call = methods[name]?.bind(client);
    if (call) methods[name] = (...args) => call(...args).catch(onError);
  }
  return client;
}
