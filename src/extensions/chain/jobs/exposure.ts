import type { WalletReading } from '../../../exchange/chain';
import type { Move } from '../contracts/exchange-events';
import type { WalletQuery } from '../contracts/wallet-reader';

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
export function addMoved(queries: Queries, moves: readonly Move[], markets: ReadonlyMap<string, Pair>): void {
  const marketOf = new Map<bigint, string>();
  for (const [marketId, pair] of markets) for (const tokenId of pair) marketOf.set(BigInt(tokenId), marketId);
  for (const { wallet, asset } of moves) {
    const marketId = marketOf.get(asset);
    const pair = marketId === undefined ? undefined : markets.get(marketId);
    const found = addWallet(queries, wallet);
    if (marketId !== undefined && pair) found.set(marketId, pair);
  }
}

export function byWallet(moves: readonly Move[]): ReadonlyMap<string, readonly Move[]> {
  const sorted = new Map<string, Move[]>();
  for (const move of moves) {
    const list = sorted.get(move.wallet) ?? [];
    list.push(move);
    sorted.set(move.wallet, list);
  }
  return sorted;
}

const ALLOWANCE_MAX = 2n ** 256n - 1n;
const COLLATERAL = 0n;

/**
 * The state of a wallet as it would be without these moves of our own contract. The ledger counts what they took as `out`,
 * and what they brought as not there yet.
 */
export function without(
  moves: readonly Move[],
  reading: WalletReading,
  markets: ReadonlyMap<string, Pair>,
): WalletReading {
  const net = (asset: bigint): bigint =>
    moves.reduce((sum, move) => (move.asset === asset ? sum + move.amount : sum), 0n);
  const before = (balance: bigint, asset: bigint): bigint => atLeastZero(balance - net(asset));
  const { balance, allowance } = reading.collateral;
  const used = moves.reduce(
    (sum, { asset, kind, amount }) => (asset === COLLATERAL && kind === 'GAVE' ? sum - amount : sum),
    0n,
  );
  return {
    ...reading,
    collateral: { balance: before(balance, COLLATERAL), allowance: least(allowance + used, ALLOWANCE_MAX) },
    tokens: reading.tokens.map(({ marketId, balances: [yes, no] }) => {
      const [yesId, noId] = markets.get(marketId) ?? ['-1', '-1'];
      return { marketId, balances: [before(yes, BigInt(yesId)), before(no, BigInt(noId))] as const };
    }),
  };
}

const atLeastZero = (amount: bigint): bigint => (amount < 0n ? 0n : amount);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

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
