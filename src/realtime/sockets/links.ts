import { createAdapter, createShardedAdapter } from '@socket.io/redis-adapter';
import type { Server } from 'socket.io';
import { connect, disconnect } from '../../store/redis/connection';
import type { RedisClient } from '../../store/redis/scripts';

export interface LinksOptions {
  readonly urls: readonly string[];
  readonly tlsCa: string | null;
  readonly onError: (error: Error) => void;
}

/** The connections of a web process besides the one for commands, and the adapter that joins the replicas. */
export interface Links {
  /** For Socket.IO: the sharded adapter on a cluster, else the classic one. */
  readonly adapter: Parameters<Server['adapter']>[0] & object;
  /** Blocked by the outbox reader that broadcasts. */
  readonly broadcastReader: RedisClient;
  /** Blocked by the outbox reader that writes the logs of wallets. */
  readonly privateReader: RedisClient;
  /** Called whenever messages of other replicas may have been missed. */
  onBack(listener: () => void): void;
  close(): void;
}

/** Adapter calls whose promises are ignored: without Redis they fail, and a later call repeats their message. */
const UNWATCHED = [
  'publish',
  'spublish',
  'subscribe',
  'psubscribe',
  'ssubscribe',
  'unsubscribe',
  'punsubscribe',
  'sunsubscribe',
] as const;

export function createLinks({ urls, tlsCa, onError }: LinksOptions): Links {
  const open = (subscriber = false) => connect({ urls, tlsCa, blocking: true, subscriber, onError });
  const publisher = quiet(open(), onError);
  const subscriber = quiet(open(true), onError);
  const [broadcastReader, privateReader] = [open(), open()];
  const isCluster = urls.length > 1;
  // Publish and subscribe ignore database numbers: two exchanges on two databases of one Redis must not mix.
  const channel = `socket.io:${isCluster ? 0 : databaseOf(urls[0] ?? '')}`;
  return {
    adapter: isCluster
      ? createShardedAdapter(publisher, subscriber, { channelPrefix: channel, subscriptionMode: 'static' })
      : createAdapter(publisher, subscriber, { key: channel }),
    broadcastReader,
    privateReader,
    onBack: (listener) => void subscriber.on('ready', listener),
    close: () => {
      for (const client of [publisher, subscriber, broadcastReader, privateReader]) disconnect(client);
    },
  };
}

const databaseOf = (url: string): number => Number(new URL(url).pathname.slice(1)) || 0;

function quiet(client: RedisClient, onError: (error: Error) => void): RedisClient {
  const methods = client as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of UNWATCHED) {
    const call = methods[name]?.bind(client);
    if (call) methods[name] = (...args) => call(...args).catch(onError);
  }
  return client;
}
