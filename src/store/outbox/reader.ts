import { ENDED } from '../redis/connection';
import { NO_ENTRY } from '../redis/entry-id';
import type { ShardKeys } from '../redis/keys';
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

/** Reads the outbox as it grows. `redis` must be a separate connection, because the reads block it. */
export function createOutboxReader({ redis, keys }: { redis: RedisClient; keys: ShardKeys }): OutboxReader {
  async function lastId(): Promise<string> {
    const [entry] = await redis.xrevrangeBuffer(keys.outbox, '+', '-', 'COUNT', 1);
    return entry ? entry[0].toString() : NO_ENTRY;
  }

  async function read(after: string, most: number, blockMs: number): Promise<OutboxEntry[]> {
    const asked = redis.xreadBuffer('COUNT', most, 'BLOCK', blockMs, 'STREAMS', keys.outbox, after);
    const reply = await orReconnect(asked, blockMs + PATIENCE_MS);
    const [stream] = (reply ?? []) as unknown as [Buffer, Entry[]][];
    return (stream?.[1] ?? []).map(([id, [, packed]]) => ({ id: id.toString(), event: decodeEvent(packed) }));
  }

  /** After a silent loss of the peer, or after the client was closed, a blocked read would wait without end. */
  async function orReconnect<T>(reply: Promise<T>, limitMs: number): Promise<T> {
    const timer = setTimeout(() => redis.disconnect(true), limitMs);
    let onEnd = (): void => {};
    const ended = new Promise<never>((_, reject) => {
      onEnd = () => reject(new Error('the connection was ended'));
      redis.once(ENDED, onEnd);
    });
    try {
      return await Promise.race([reply, ended]);
    } finally {
      clearTimeout(timer);
      redis.off(ENDED, onEnd);
    }
  }

  return { lastId, read };
}
