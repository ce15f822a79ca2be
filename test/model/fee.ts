/**
 * The fee of the CTF exchange, written like its Solidity, in chain units (18 digits).
 * Source: Polymarket/ctf-exchange, src/exchange/libraries/CalculatorHelper.sol.
 */
const ONE = 10n ** 18n;
const BPS = 10_000n;
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

function calculatePrice(makerAmount: bigint, takerAmount: bigint, side: number): bigint {
  if (side === 0) return takerAmount !== 0n ? (makerAmount * ONE) / takerAmount : 0n;
  return makerAmount !== 0n ? (takerAmount * ONE) / makerAmount : 0n;
}

/** In outcome tokens for a BUY (side 0), in collateral for a SELL. */
export function calculateFee(bps: bigint, size: bigint, give: bigint, get: bigint, side: number): bigint {
  const price = calculatePrice(give, get, side);
  if (bps === 0n || price === 0n || price > ONE) return 0n;
  if (side === 0) return (bps * min(price, ONE - price) * size) / (price * BPS);
  return (bps * min(price, ONE - price) * size) / (BPS * ONE);
}
