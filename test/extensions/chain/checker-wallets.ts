import {
  type Api,
  type ApiBalance,
  type ApiBalances,
  type ApiWalletOrder,
  type CheckedWallet,
  microOf,
} from './checker-api';
import { type ChainRecord, stateOf } from './checker-chain';

/** C1: the account of each wallet is what the chain says, down to the micro-unit. */
export interface WalletBooks {
  readonly wallet: CheckedWallet;
  readonly balances: ApiBalances;
  readonly orders: readonly ApiWalletOrder[];
}

const MICRO_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const ONE = 1_000_000n;
const NOTHING: ApiBalance = { total: '0', available: '0', reserved: '0', unsettled: '0', pending: '0' };
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** As far as the books can count. */
export const inMicro = (amount: bigint, microAmount: bigint): bigint =>
  least(amount / microAmount, MICRO_MAX);

/** The amount that open orders need of an asset: the collateral, or a token. */
export function neededBy(orders: readonly ApiWalletOrder[], tokenId: string | null): bigint {
  let needed = 0n;
  for (const { side, price, remainingSize, tokenId: own } of orders) {
    if (side === 'BUY' && tokenId === null) needed += (microOf(price) * microOf(remainingSize)) / ONE;
    if (side === 'SELL' && tokenId === own) needed += microOf(remainingSize);
  }
  return needed;
}

export async function checkWallet(
  api: Api,
  { chain, contracts }: ChainRecord,
  wallet: CheckedWallet,
  tokenIds: readonly string[],
): Promise<{ found: WalletBooks; left: string[] }> {
  const [balances, orders] = await Promise.all([api.balances(wallet), api.orders(wallet)]);
  const state = await stateOf(chain, contracts, wallet.address, tokenIds);
  const left: string[] = [];
  const complain = (what: string, is: unknown, should: unknown): void => {
    if (String(is) !== String(should))
      left.push(`C1: ${what} of ${wallet.address} is ${is} in the books, and should be ${should}`);
  };
  const compare = (what: string, shown: ApiBalance, has: bigint, may: bigint, needed: bigint): void => {
    complain(`the total ${what}`, microOf(shown.total), has);
    complain(`the reserved ${what}`, microOf(shown.reserved), needed);
    complain(`the unsettled ${what}`, microOf(shown.unsettled), 0n);
    complain(`the pending ${what}`, microOf(shown.pending), 0n);
    complain(`the available ${what}`, microOf(shown.available), least(has, may) - needed);
  };
  const allowance = inMicro(state.allowance, api.microAmount);
  const cash = inMicro(state.collateral, api.microAmount);
  compare('collateral', balances.collateral, cash, allowance, neededBy(orders, null));
  complain('the value of unsettled matches', microOf(balances.standing.unsettled), 0n);
  complain('the allowance', microOf(balances.approvals.collateral.allowance), allowance);
  complain('the approval for tokens', balances.approvals.conditionalTokens.approved, state.isApproved);
  for (const [tokenId, amount] of state.tokens) {
    const shown = balances.tokens.find((one) => one.tokenId === tokenId) ?? NOTHING;
    const has = inMicro(amount, api.microAmount);
    const name = `balance of the token ${tokenId.slice(0, 8)}…`;
    compare(name, shown, has, state.isApproved ? has : 0n, neededBy(orders, tokenId));
  }
  return { found: { wallet, balances, orders }, left };
}
