import { FAULT_REASONS, type FaultReason } from '../../exchange/chain';
import { STRIKES } from './layout';
import { tradeId } from './order-views';
import { settlementKey } from './settlement';

/** The failed matches of a wallet, each deed of the wallet once. */
export interface Strikes {
  readonly count: number;
  /** The end of the suspension, also of one that is over. */
  readonly untilMs: number;
  /** Time and reason of the last strike, and the match that failed then. */
  readonly lastMs: number;
  readonly reason: FaultReason;
  readonly tradeId: string;
}

/** Time without another strike after which strikes are forgotten (src/extensions/chain/lua/lib/trust.lua). */
const MEMORY_MS = 30 * 24 * 3_600_000;

export function unpackStrikes(packed: Buffer): Strikes {
  const { reason, settlement, ...rest } = STRIKES.read(packed);
  const { marketId, sequence, part } = settlementKey(settlement);
  const id = tradeId(marketId, { sequence, index: part });
  return { ...rest, reason: FAULT_REASONS[reason - 1] ?? 'UNKNOWN', tradeId: id };
}

export const isRemembered = ({ lastMs }: Strikes, nowMs: number): boolean => nowMs - lastMs <= MEMORY_MS;
