import type { TrustLimit } from './facts';
import { type Micro, micro } from './units';

/** As in src/extensions/chain/lua/lib/trust.lua, which decides. */
const STEP = 10;
const RESTING_TIMES = 10;

/** The limit of a wallet from that of a new one and the value of its settled matches; null where there is no limit. */
export function trustLimitOf(firstMicro: Micro, settledMicro: Micro, isContract: boolean): TrustLimit | null {
  if (firstMicro === 0) return null;
  let limit: number = firstMicro;
  while (!isContract && settledMicro >= STEP * limit) limit *= STEP;
  return {
    unsettledMicro: micro(limit),
    committedMicro: micro(RESTING_TIMES * limit),
    growsAtMicro: isContract ? null : micro(STEP * limit),
  };
}
