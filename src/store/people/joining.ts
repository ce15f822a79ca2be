import { addressBytes } from '../records/order';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';

/** The first sign-in of a wallet. */
export interface Joining {
  /** join_wallet. */
  join(address: string): Promise<void>;
  /** Whether the wallet has an account, or has signed in. */
  isKnown(address: string): Promise<boolean>;
}

interface JoiningOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  /** The grant at a wallet's first sign-in; 0 where its first order grants. */
  readonly joinGrantMicro: number;
}

export function createJoining({ redis, run, keys, joinGrantMicro }: JoiningOptions): Joining {
  async function join(address: string): Promise<void> {
    const wallet = addressBytes(address);
    const scriptKeys = [keys.profile(wallet), keys.cash, keys.sums, keys.outbox, keys.mode] as const;
    await run('join_wallet', scriptKeys, [keys.prefix, wallet, String(joinGrantMicro)]);
  }

  async function isKnown(address: string): Promise<boolean> {
    const wallet = addressBytes(address);
    const found = await Promise.all([redis.hexists(keys.cash, wallet), redis.exists(keys.profile(wallet))]);
    return found.includes(1);
  }

  return { join, isKnown };
}
