import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { TRACES } from '../src/store/records/layout';
import { createKeys } from '../src/store/redis/keys';
import { lastOf, traceOf } from '../test/support/trace';

/** As lua/lib/traces.lua has them. */
const [PER_BUCKET, PRIME, LEFT_OUT, PLACE_BYTES] = [200, 1_000_000_007, 1_024, 3];
const FACTOR = 654_321;

/** Writes traces into a market that has none, as if that number of orders had left for the archive. */
export async function plantTraces(redis: Redis, marketId: string, count: number): Promise<void> {
  const key = createKeys().market(marketId);
  const buckets = Math.ceil(count / PER_BUCKET);
  const span = 2 ** (Math.floor(Math.log2(buckets)) + 1);
  const members = new Map<number, string[]>();
  for (let i = 0; i < count; i++) {
    const hash = `0x${createHash('sha256').update(`trace ${i}`).digest('hex')}`;
    const number = Math.floor(((Number(lastOf(hash)) * FACTOR) % PRIME) / LEFT_OUT);
    const place = number % span < buckets ? number % span : number % (span / 2);
    members.set(place, [...(members.get(place) ?? []), traceOf(hash)]);
  }
  for (const [place, texts] of members) {
    const name = Buffer.alloc(PLACE_BYTES);
    name.writeUIntBE(place, 0, PLACE_BYTES);
    await redis.sadd(Buffer.concat([Buffer.from(`${key}:g`), name]), ...texts);
  }
  const noted = TRACES.pack({ buckets, span, factor: FACTOR, expiredSec: 0, traces: count });
  await redis.hset(key, 'g', noted);
}
