import type { OutcomeIndex, Position } from 'ctf-exchange-client';
import type { Account } from './account-data';
import { remembered } from './market-list-data';
import { aboutPips, microOf, PIPS_ONE } from './units';

/** Shares in hand. Balances have their number at once; their cost and gain are computed a moment later. */
export interface Holding {
  readonly marketId: string;
  readonly outcomeIndex: OutcomeIndex;
  readonly tokenId: string;
  readonly micro: number;
  readonly freeMicro: number;
  /** Null until it is computed. */
  readonly cost: Position | null;
}

export function holdingsOf({ balances, positions }: Account): Holding[] {
  return (balances?.tokens ?? [])
    .filter(({ total }) => microOf(total) > 0)
    .map(({ marketId, outcomeIndex, tokenId, total, available }) => {
      const cost = positions?.find((one) => one.tokenId === tokenId && one.size === total) ?? null;
      return { marketId, outcomeIndex, tokenId, micro: microOf(total), freeMicro: microOf(available), cost };
    });
}

/** Fees can leave fractions of a lot. */
export const wholeLots = (micro: number): number => Math.floor(micro / PIPS_ONE);

/** The computed value, else the value at the market's price. */
export function worthOf({ marketId, outcomeIndex, micro, cost }: Holding): number | null {
  if (cost?.currentValue != null) return microOf(cost.currentValue);
  const price = remembered(marketId)?.outcomes[outcomeIndex]?.price ?? null;
  return price === null ? null : Math.floor((micro * aboutPips(price)) / PIPS_ONE);
}

/** Money and shares together; null until both are known. */
export function worthIn(account: Account): number | null {
  const { balances } = account;
  if (!balances) return null;
  const shares = holdingsOf(account).map((held) => worthOf(held) ?? 0);
  return microOf(balances.collateral.total) + shares.reduce((sum, micro) => sum + micro, 0);
}
