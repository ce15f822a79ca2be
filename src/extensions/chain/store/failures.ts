import { FAULT_REASONS } from '../../../exchange/chain';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';

/** By their codes in src/extensions/chain/lua/lib/finality.lua; a failure may have no reason. */
const REASONS = ['NONE', ...FAULT_REASONS] as const;
export type FaultKind = (typeof REASONS)[number];

export interface Failures {
  /** How often a settlement failed for a reason, ever; every reason is there. */
  readonly byReason: Readonly<Record<string, number>>;
  /** The strikes of all wallets, ever. */
  readonly strikes: number;
}

export async function readFailures({
  redis,
  keys,
}: {
  readonly redis: RedisClient;
  readonly keys: Keys;
}): Promise<Failures> {
  const [strikes, ...failed] = await redis.hmget(
    keys.sums,
    'strikes',
    ...REASONS.map((_, code) => `failed:${code}`),
  );
  const byReason = Object.fromEntries(REASONS.map((reason, code) => [reason, Number(failed[code] ?? 0)]));
  return { byReason, strikes: Number(strikes ?? 0) };
}
