import { type MarketId, type OutcomeIndex, payoutHalves } from '../../exchange/market';
import { FEE_ACCOUNT, heldTokens } from '../records/account';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** The effect of a resolution, at the moment of the read. */
export interface EndingPreview {
  /** Wallets that hold tokens of the market. */
  readonly holders: number;
  /** Wallets that would be paid. */
  readonly winners: number;
  readonly payoutMicro: bigint;
}

/** Accounts of one step. The count stops at HOLDERS_MAX holders. */
const STEP = 1_000;
const HOLDERS_MAX = 1_000_000;

/** Counts the holders of a market, and their payouts for a result, or null for a void. */
export async function previewEnding(
  { redis, keys }: { readonly redis: RedisClient; readonly keys: Keys },
  id: MarketId,
  outcome: OutcomeIndex | null,
): Promise<EndingPreview> {
  const [holders, winners] = [new Set<string>(), new Set<string>()];
  let halves = 0n;
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscanBuffer(keys.tokens(id), cursor, 'COUNT', STEP);
    for (let i = 0; i < flat.length; i += 2) {
      const [account, packed] = [flat[i], flat[i + 1]];
      if (!account || !packed || holders.has(account.toString('latin1'))) continue;
      const held = heldTokens(packed);
      const paid = held.reduce(
        (sum, micro, index) =>
          sum + BigInt(micro) * BigInt(payoutHalves({ outcome, resolvedAtMs: 0 }, index === 0 ? 0 : 1)),
        0n,
      );
      halves += paid;
      if (account.toString() === FEE_ACCOUNT || held.every((micro) => micro === 0)) continue;
      holders.add(account.toString('latin1'));
      if (paid > 0n) winners.add(account.toString('latin1'));
    }
    cursor = next.toString();
  } while (cursor !== '0' && holders.size < HOLDERS_MAX);
  return { holders: holders.size, winners: winners.size, payoutMicro: halves / 2n };
}
