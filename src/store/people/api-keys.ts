import { apiKeysKey } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';

export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly ('read' | 'cancel')[];
  readonly digest: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
}

/**
 * API keys, one hash for each wallet; src/auth/api-keys.ts documents the methods. A backup contains neither keys nor
 * sessions, because a restore must not bring back a deleted key.
 */
export function createKeyStore({ redis, run, most }: { redis: RedisClient; run: RunScript; most: number }) {
  async function list(address: string): Promise<StoredKey[]> {
    const stored = await redis.hgetall(apiKeysKey(address));
    return Object.entries(stored)
      .map(([id, text]) => keyOf(id, text))
      .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  return {
    list,
    add: async (address: string, { id, ...record }: StoredKey, nowMs: number): Promise<boolean> => {
      const ended = (await list(address)).filter(
        ({ expiresAtMs }) => expiresAtMs !== null && expiresAtMs <= nowMs,
      );
      const args = [id, JSON.stringify(record), most, ...ended.map((one) => one.id)] as const;
      return (await run('add_key', [apiKeysKey(address)], args)) === 1;
    },
    find: async (address: string, id: string): Promise<StoredKey | null> => {
      const text = await redis.hget(apiKeysKey(address), id);
      return text === null ? null : keyOf(id, text);
    },
    remove: async (address: string, id: string): Promise<boolean> =>
      (await redis.hdel(apiKeysKey(address), id)) === 1,
  };
}

const keyOf = (id: string, text: string): StoredKey => ({
  id,
  ...(JSON.parse(text) as Omit<StoredKey, 'id'>),
});
