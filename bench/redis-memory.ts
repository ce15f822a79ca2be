import type { Redis } from 'ioredis';
import { shardKeys } from '../src/store/redis/keys';

/** The memory of Redis, in bytes. */
export interface RedisMemory {
  readonly usedBytes: number;
  /** Permanent records: orders, matches, settlements, journals, balances, candles. */
  readonly recordsBytes: number;
  /** The last minute of events. */
  readonly outboxBytes: number;
  /** Keys that hold no records: books' updates, jobs, leases, sessions. Each of them has a bound. */
  readonly boundedBytes: number;
  /** Those keys, and what is in no key: connections, scripts. */
  readonly restBytes: number;
  readonly orders: number;
  /** Each kind of key. */
  readonly kinds: ReadonlyMap<string, number>;
}

const SCAN_STEP = 1_000;
/** As in docs/engine.md. */
const RECORDS =
  /^\{x\d+\}:(o|bal|st|sl|su|sum|mk|ml|mn|exp|ar|fo|(u|w|ac|ps|p):.+|m:[0-9a-z]{8}(:(b|a|t|bal|c\d+|g.+|sl|paid))?)$/s;
/** Their names end with bytes: of an address, or of the number of a bucket of traces. */
const ENDS_IN_BYTES = /^(\{x\d+\}:(?:(?:u|w|ac|ps|p):|m:[0-9a-z]{8}:g)).+$/s;
const OUTBOX = /^\{x\d+\}:out$/;

export const keyGroup = (name: string): 'records' | 'outbox' | 'rest' =>
  RECORDS.test(name) ? 'records' : OUTBOX.test(name) ? 'outbox' : 'rest';

/** Entries with which it is measured. */
const SAMPLE = 50_000;
const SAMPLE_KEY = '{x0}:weighed';

/**
 * The bytes that `MEMORY USAGE` misses of each entry of a table. It adds up sizes as Redis' own allocator rounds them; that of a
 * distribution may round others (16 bytes instead of 8 for small ones). Measured by a table of known size.
 */
export async function missedOfEntry(redis: Redis): Promise<number> {
  const fill = `for i = 1, ${SAMPLE} do redis.call('HSET', KEYS[1], string.format('%032d', i), string.rep('x', 80)) end`;
  const before = await usedBytes(redis);
  await redis.eval(fill, 1, SAMPLE_KEY);
  const [used, said] = [
    await usedBytes(redis),
    await redis.call('MEMORY', 'USAGE', SAMPLE_KEY, 'SAMPLES', '0'),
  ];
  await redis.del(SAMPLE_KEY);
  return (used - before - Number(said)) / SAMPLE;
}

/** Tables have an entry for each member; Redis keeps small ones, and lists and streams, in other forms. */
const COUNTS: Readonly<Record<string, string>> = { hash: 'HLEN', zset: 'ZCARD', set: 'SCARD' };

/** The bytes of a key, with those that `MEMORY USAGE` misses. */
async function bytesOf(redis: Redis, name: Buffer, missed: number): Promise<number> {
  const [size, encoding, type] = await Promise.all([
    redis.call('MEMORY', 'USAGE', name, 'SAMPLES', '0'),
    redis.call('OBJECT', 'ENCODING', name).catch(() => ''),
    redis.call('TYPE', name),
  ]);
  const count = COUNTS[String(type)];
  const isTable = encoding === 'hashtable' || encoding === 'skiplist';
  const entries = isTable && count ? Number(await redis.call(count, name)) : 0;
  return Number(size ?? 0) + entries * missed;
}

/** Each key to the byte; some hundred milliseconds for a million orders, during which Redis does nothing else. */
export async function weigh(redis: Redis, missed: number): Promise<RedisMemory> {
  const bytes = { records: 0, outbox: 0, rest: 0 };
  const kinds = new Map<string, number>();
  let cursor = '0';
  do {
    const [next, names] = await redis.scanBuffer(cursor, 'COUNT', SCAN_STEP);
    cursor = next.toString();
    const sizes = await Promise.all(names.map((name) => bytesOf(redis, name, missed)));
    for (const [i, raw] of names.entries()) {
      const [name, size] = [raw.toString('latin1'), Number(sizes[i] ?? 0)];
      const group = keyGroup(name);
      bytes[group] += size;
      kinds.set(kindOf(name), (kinds.get(kindOf(name)) ?? 0) + size);
    }
  } while (cursor !== '0');
  const used = await usedBytes(redis);
  return {
    usedBytes: used,
    recordsBytes: bytes.records,
    outboxBytes: bytes.outbox,
    boundedBytes: bytes.rest,
    restBytes: used - bytes.records - bytes.outbox,
    orders: await redis.hlen(shardKeys().orders),
    kinds,
  };
}

/** A key's name without the part that distinguishes it from others of its kind. */
const kindOf = (name: string): string =>
  name.replace(ENDS_IN_BYTES, '$1*').replace(/[0-9a-f]{8}-[0-9a-f-]+|0x[0-9a-f]+|[0-9a-z]{8,}|\d+/gi, '*');

export async function usedBytes(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}
