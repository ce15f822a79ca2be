import type { Touch } from '../../chain/exchange-events';
import type { WalletQuery } from '../../chain/wallet-reader';
import type { WalletReading } from '../../exchange/chain';

/** The ids of a market's tokens: Yes, No. */
export type Pair = readonly [string, string];
/** The wallets to read, each with its markets. */
export type Queries = Map<string, Map<string, Pair>>;

export function addWallet(queries: Queries, address: string): Map<string, Pair> {
  const markets = queries.get(address) ?? new Map<string, Pair>();
  queries.set(address, markets);
  return markets;
}

export const asQueries = (queries: Queries): WalletQuery[] =>
  [...queries].map(([address, markets]) => ({
    address,
    markets: [...markets].map(([marketId, tokenIds]) => ({ marketId, tokenIds })),
  }));

/** Adds the wallets that fills took from and paid to, with the tokens of these markets that they moved. */
export function addTouched(
  queries: Queries,
  touched: readonly Touch[],
  markets: ReadonlyMap<string, Pair>,
): void {
  const marketOf = new Map<bigint, string>();
  for (const [marketId, pair] of markets) for (const tokenId of pair) marketOf.set(BigInt(tokenId), marketId);
  for (const { wallet, asset } of touched) {
    const marketId = marketOf.get(asset);
    const pair = marketId === undefined ? undefined : markets.get(marketId);
    const found = addWallet(queries, wallet);
    if (marketId !== undefined && pair) found.set(marketId, pair);
  }
}

/** Whether a wallet may do less than it could before; true also when it was not read before. */
export function isWorse(now: WalletReading, before: WalletReading | undefined): boolean {
  if (!before) return true;
  const tokens = new Map(before.tokens.map(({ marketId, balances }) => [marketId, balances]));
  return (
    now.collateral.balance < before.collateral.balance ||
    now.collateral.allowance < before.collateral.allowance ||
    (before.approvedForAll && !now.approvedForAll) ||
    now.minNonce > before.minNonce ||
    now.tokens.some(({ marketId, balances: [yes, no] }) => {
      const [yesBefore, noBefore] = tokens.get(marketId) ?? [null, null];
      return yesBefore === null || yes < yesBefore || no < noBefore;
    })
  );
}
