import { NO_ENTRY } from '../redis/entry-id';
import type { Key, Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import type { CoreReader } from './outbox';

/** The right to read the outbox under a name, for one process at a time. A token identifies the holder. */
export interface Lease {
  /** Returns true when the token now has the lease. */
  take(token: string, lifeMs: number): Promise<boolean>;
  /** Renews the lease and stores its holder's position; returns false when the token has lost the lease. */
  renew(token: string, lifeMs: number, position: string): Promise<boolean>;
  release(token: string): Promise<void>;
  /** Id of the last entry that its holders have processed. */
  position(): Promise<string>;
}

interface LeaseOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
}

export function createLease(
  { redis, run, keys }: LeaseOptions,
  reader: CoreReader | 'archive',
  key: Key<'lease' | 'relayLease' | 'archiveLease'>,
): Lease {
  const hold = async (token: string, lifeMs: number, position: string): Promise<boolean> =>
    (await run('hold_lease', [key, keys.readers], [token, lifeMs, reader, position])) === 1;
  return {
    take: (token, lifeMs) => hold(token, lifeMs, ''),
    renew: hold,
    async release(token) {
      await run('release_lease', [key], [token]);
    },
    position: () => positionOf(redis, keys, reader),
  };
}

/** A lease of work that reads no outbox. Its holder keeps it by taking it again. */
export function createPlainLease(
  { run, keys }: Pick<LeaseOptions, 'run' | 'keys'>,
  key: Key<'observerLease'>,
): Pick<Lease, 'take' | 'release'> {
  return {
    take: async (token, lifeMs) =>
      (await run('hold_lease', [key, keys.readers], [token, lifeMs, '', ''])) === 1,
    async release(token) {
      await run('release_lease', [key], [token]);
    },
  };
}

/** Returns a reader's position. For a new reader it stores the beginning, so that trimming keeps all entries for it. */
async function positionOf(redis: RedisClient, keys: Keys, reader: CoreReader | 'archive'): Promise<string> {
  const noted = await redis.hget(keys.readers, reader);
  if (noted === null) await redis.hsetnx(keys.readers, reader, NO_ENTRY);
  return noted ?? NO_ENTRY;
}
