/**
 * The fee of an order for one fill, in units of the smallest amount: computed from the collateral and the tokens that the order
 * exchanged in that fill, in outcome tokens for a BUY (side 0), in collateral for a SELL, rounded down.
 */
export function feeOfFill(bps: bigint, side: number, collateral: bigint, tokens: bigint): bigint {
  if (collateral === 0n || collateral >= tokens) return 0n;
  const smaller = collateral < tokens - collateral ? collateral : tokens - collateral;
  if (side === 0) return (bps * smaller * tokens) / (10_000n * collateral);
  return (bps * smaller) / 10_000n;
}
