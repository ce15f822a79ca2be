import type { RedisClient } from './scripts';

/** Maximum fields of one call, which take Redis less than a millisecond. */
const FIELDS_MAX = 1_000;

/** Reads fields of a hash in their order; null for a missing one. */
export async function readFields(
  redis: RedisClient,
  key: string,
  fields: readonly Buffer[],
): Promise<(Buffer | null)[]> {
  const found: (Buffer | null)[] = [];
  for (let from = 0; from < fields.length; from += FIELDS_MAX)
    found.push(...(await redis.hmgetBuffer(key, ...fields.slice(from, from + FIELDS_MAX))));
  return found;
}
