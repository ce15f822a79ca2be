import { MODES, type Mode } from '../exchange/status';
import type { Clock } from './clock';
import type { ShardKeys } from './keys';
import type { RedisClient, RunScript } from './scripts';

export type Durability = 'always' | 'everysec' | 'no' | 'none' | 'unknown';

/** What /readyz and /config ask of the store. */
export interface Health {
  readonly redis: boolean;
  /** The scripts of this version run on that Redis. */
  readonly scripts: boolean;
  /** What a crash of Redis may lose: `appendfsync` with appendonly on, else none; unknown where CONFIG is closed. */
  readonly durability: Durability;
  readonly mode: Mode;
}

/** Asks Redis now; rejects when it does not answer. */
export function createHealth(deps: { redis: RedisClient; run: RunScript; keys: ShardKeys; clock: Clock }) {
  const { redis, run, keys, clock } = deps;
  return async (): Promise<Health> => {
    const nobody = '--------';
    const reply = await run(
      'read_market',
      [keys.market(nobody), keys.trades(nobody), keys.markets],
      [nobody, 0],
    );
    clock.observe(Number((reply as [Buffer])[0]));
    const mode = MODES[Number(await redis.get(keys.mode))] ?? 'NORMAL';
    return { redis: true, scripts: true, durability: await durability(redis), mode };
  };
}

async function durability(redis: RedisClient): Promise<Durability> {
  const setting = async (name: string): Promise<string | undefined> => {
    const reply = (await redis.call('CONFIG', 'GET', name)) as string[];
    return reply[1];
  };
  try {
    if ((await setting('appendonly')) !== 'yes') return 'none';
    const policy = await setting('appendfsync');
    return policy === 'always' || policy === 'everysec' || policy === 'no' ? policy : 'unknown';
  } catch (error) {
    // Managed servers close CONFIG; everything else is a Redis that does not answer.
    if (error instanceof Error && /unknown command|NOPERM/i.test(error.message)) return 'unknown';
    throw error;
  }
}
