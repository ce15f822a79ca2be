import { Redis } from 'ioredis';
import { ENDED } from '../redis/connection';
import { reconnect } from '../redis/demotion';
import { NO_ENTRY } from '../redis/entry-id';
import type { Keys } from '../redis/keys';
import { confirm } from '../redis/replicated';
import type { RedisClient } from '../redis/scripts';
import { decodeEvent, type OutboxEvent } from './outbox';

/** The time beyond its block time after which a read's connection counts as dead. */
const PATIENCE_MS = 3_000;

export interface OutboxEntry {
  readonly id: string;
  readonly event: OutboxEvent;
}

export interface OutboxReader {
  /** Id of the latest entry; 0-0 for an empty outbox. */
  lastId(): Promise<string>;
  /** Returns entries after `after`, oldest first; waits up to `blockMs` (at least 1) for the first one. */
  read(after: string, most: number, blockMs: number): Promise<OutboxEntry[]>;
}

type Entry = [Buffer, [Buffer, Buffer]];

type Reply = [Buffer, Entry[]][] | null;

const entriesOf = (reply: Reply): OutboxEntry[] =>
  (reply?.[0]?.[1] ?? []).map(([id, [, packed]]) => ({ id: id.toString(), event: decodeEvent(packed) }));

async function lastIdOf(redis: RedisClient, keys: Keys): Promise<string> {
  const [entry] = await redis.xrevrangeBuffer(keys.outbox, '+', '-', 'COUNT', 1);
  return entry ? entry[0].toString() : NO_ENTRY;
}

interface ReaderOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** The replicas that must have confirmed an entry before it is returned. */
  readonly replicas?: number;
}

/** Reads the outbox as it grows. `redis` must be a separate connection, because the reads block it. */
export function createOutboxReader({ redis, keys, replicas = 0 }: ReaderOptions): OutboxReader {
  async function read(after: string, most: number, blockMs: number): Promise<OutboxEntry[]> {
    const asked = redis.xreadBuffer('COUNT', most, 'BLOCK', blockMs, 'STREAMS', keys.outbox, after);
    const entries = entriesOf((await orReconnect(asked, blockMs + PATIENCE_MS)) as unknown as Reply);
    if (replicas > 0 && entries.length > 0 && redis instanceof Redis)
      await orReconnect(confirm(redis, replicas), PATIENCE_MS);
    return entries;
  }

  /** After a silent loss of the peer, or after the client was closed, a blocked read would wait without end. */
  async function orReconnect<T>(reply: Promise<T>, limitMs: number): Promise<T> {
    const timer = setInterval(() => reconnect(redis), limitMs);
    let onEnd = (): void => {};
    const ended = new Promise<never>((_, reject) => {
      onEnd = () => reject(new Error('the connection was ended'));
      redis.once(ENDED, onEnd);
    });
    try {
      return await Promise.race([reply, ended]);
    } finally {
      clearInterval(timer);
      redis.off(ENDED, onEnd);
    }
  }

  return { lastId: () => lastIdOf(redis, keys), read };
}

/** The interval in which outboxes are read that had nothing new. */
const POLL_EVERY_MS = 20;

/**
 * Readers of many outboxes on one connection, which must fail commands that are not answered. A read that blocks waits for
 * one slot of a cluster alone and holds its connection, so all of these look together, and do not wait in Redis.
 */
export function createOutboxPolling(redis: RedisClient): (keys: Keys) => OutboxReader {
  /** Reads that wait for their first entry; they are called to look again. */
  const waiting = new Set<() => void>();

  function lookAgain(): void {
    const due = [...waiting];
    waiting.clear();
    for (const look of due) look();
  }

  function wait(look: () => void): void {
    if (waiting.size === 0) setTimeout(lookAgain, POLL_EVERY_MS);
    waiting.add(look);
  }

  async function readNow(keys: Keys, after: string, most: number): Promise<OutboxEntry[]> {
    const asked = redis.xreadBuffer('COUNT', most, 'STREAMS', keys.outbox, after);
    return entriesOf((await asked) as unknown as Reply);
  }

  return (keys) => ({
    lastId: () => lastIdOf(redis, keys),
    async read(after, most, blockMs) {
      const untilMs = performance.now() + blockMs;
      for (;;) {
        const found = await readNow(keys, after, most);
        if (found.length > 0 || performance.now() >= untilMs) return found;
        await new Promise<void>((look) => wait(look));
      }
    },
  });
}
