import { NO_ENTRY } from '../redis/entry-id';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** The stream at one moment. */
export interface StreamRange {
  readonly length: number;
  /** Entries ever added. */
  readonly added: number;
  /** 0-0 for an empty stream. */
  readonly firstId: string;
  /** Id of the entry that was added last, also when it was trimmed. */
  readonly lastId: string;
}

/** The extent of an outbox; null for one that never had an entry. */
export async function readStreamRange(
  redis: RedisClient,
  keys: Pick<Keys, 'outbox'>,
): Promise<StreamRange | null> {
  let reply: unknown[];
  try {
    reply = (await redis.xinfo('STREAM', keys.outbox)) as unknown[];
  } catch (error) {
    if (error instanceof Error && /no such key/i.test(error.message)) return null;
    throw error;
  }
  const field = (name: string): unknown => reply[reply.indexOf(name) + 1];
  const first = field('first-entry');
  return {
    length: Number(field('length')),
    lastId: String(field('last-generated-id')),
    added: Number(field('entries-added')),
    firstId: Array.isArray(first) ? String(first[0]) : NO_ENTRY,
  };
}
