import type { PlaceRequest } from '../../src/store/verbs/place';
import { limitOf, MICRO_PER_LOT } from './matching';

export type Account = Record<'free' | 'reserved', bigint>;
export const FEE_ACCOUNT = 'fee';

/** The balances, in micro-units, and the part that orders have reserved. */
export function createAccounts(grantMicro: number) {
  const accounts = new Map<string, Account>();
  /** `asset` is 'cash' or a market's id and outcome. */
  function account(asset: string, who: string): Account {
    const isFresh = asset === 'cash' && who !== FEE_ACCOUNT;
    const found = accounts.get(asset + who) ?? { free: isFresh ? BigInt(grantMicro) : 0n, reserved: 0n };
    accounts.set(asset + who, found);
    return found;
  }
  /** The tokens an order is about. */
  const held = (r: PlaceRequest, who: string): Account => account(r.marketId + r.order.outcome, who);
  /** The asset that an order pays with. */
  const source = (r: PlaceRequest): Account =>
    r.order.side === 0 ? account('cash', r.maker) : held(r, r.maker);
  /** The reserve of that many of its lots. */
  const bound = (r: PlaceRequest, lots: bigint): bigint =>
    lots * (r.order.side === 0 ? limitOf(r) : MICRO_PER_LOT);
  function reserve(r: PlaceRequest, amount: bigint): void {
    source(r).free -= amount;
    source(r).reserved += amount;
  }
  return { account, held, source, bound, reserve };
}
