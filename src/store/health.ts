import { MODES, type Mode } from '../exchange/status';
import type { Clock } from './clock';
import type { ShardKeys } from './keys';
import type { RedisClient, RunScript } from './scripts';
import type { Standing, Standings } from './standing';

/** What /readyz and /config ask of the store. */
export interface Health {
  readonly redis: boolean;
  /** The scripts of this version run on that Redis. */
  readonly scripts: boolean;
  readonly standing: Standing;
  readonly mode: Mode;
}

/** Asks Redis now; rejects when it does not answer. */
export function createHealth(deps: {
  redis: RedisClient;
  run: RunScript;
  keys: ShardKeys;
  clock: Clock;
  standings: Pick<Standings, 'refresh'>;
}) {
  const { redis, run, keys, clock, standings } = deps;
  return async (): Promise<Health> => {
    const nobody = '--------';
    const [reply, mode, standing] = await Promise.all([
      run('read_market', [keys.market(nobody), keys.trades(nobody), keys.markets], [nobody, 0]),
      redis.get(keys.mode),
      standings.refresh(),
    ]);
    clock.observe(Number((reply as [Buffer])[0]));
    return { redis: true, scripts: true, standing, mode: MODES[Number(mode)] ?? 'NORMAL' };
  };
}
