import type { Redis } from 'ioredis';
import { shardKeys } from '../src/store/redis/keys';

/** The memory of Redis, in bytes. */
export interface RedisMemory {
  readonly usedBytes: number;
  /** Permanent records: orders, matches, settlements, journals, balances, candles. */
  readonly recordsBytes: number;
  /** The last minute of events. */
  readonly outboxBytes: number;
  /** Everything else: books' updates, jobs, leases, sessions, connections, scripts. */
  readonly restBytes: number;
  readonly orders: number;
  /** The rest by kind of key. */
  readonly kinds: ReadonlyMap<string, number>;
}

const SCAN_STEP = 1_000;
/** As in docs/engine.md. */
const RECORDS =
  /^\{x\d+\}:(o|bal|st|sl|su|sum|mk|ml|mn|exp|(u|w|ac|ps|p):.+|m:[0-9a-z]{8}(:(b|a|t|bal|c\d+|sl|paid))?)$/s;
const OUTBOX = /^\{x\d+\}:out$/;

export const keyGroup = (name: string): 'records' | 'outbox' | 'rest' =>
  RECORDS.test(name) ? 'records' : OUTBOX.test(name) ? 'outbox' : 'rest';

/** Each key to the byte; some hundred milliseconds for a million orders, during which Redis does nothing else. */
export async function weigh(redis: Redis): Promise<RedisMemory> {
  const bytes = { records: 0, outbox: 0, rest: 0 };
  const kinds = new Map<string, number>();
  let cursor = '0';
  do {
    const [next, names] = await redis.scanBuffer(cursor, 'COUNT', SCAN_STEP);
    cursor = next.toString();
    const sizes = await Promise.all(names.map((name) => redis.call('MEMORY', 'USAGE', name, 'SAMPLES', '0')));
    for (const [i, raw] of names.entries()) {
      const [name, size] = [raw.toString('latin1'), Number(sizes[i] ?? 0)];
      const group = keyGroup(name);
      bytes[group] += size;
      if (group === 'rest') kinds.set(kindOf(name), (kinds.get(kindOf(name)) ?? 0) + size);
    }
  } while (cursor !== '0');
  const used = await usedBytes(redis);
  return {
    usedBytes: used,
    recordsBytes: bytes.records,
    outboxBytes: bytes.outbox,
    restBytes: used - bytes.records - bytes.outbox,
    orders: await redis.hlen(shardKeys().orders),
    kinds,
  };
}

/** A key's name without the part that distinguishes it from others of its kind. */
const kindOf = (name: string): string =>
  name.replace(/[0-9a-f]{8}-[0-9a-f-]+|0x[0-9a-f]+|[0-9a-z]{8,}|\d+/gi, '*');

export async function usedBytes(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}
