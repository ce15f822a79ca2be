/**
 * The fee of the CTF exchange, as plainly as its Solidity says it.
 * Source: Polymarket/ctf-exchange, src/exchange/libraries/CalculatorHelper.sol. Amounts are chain units (18 digits).
 */
export const ONE = 10n ** 18n;
const BPS_DIVISOR = 10_000n;
const BUY = 0;

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Price of an order with these amounts, 18 digits, truncated. */
function calculatePrice(makerAmount: bigint, takerAmount: bigint, side: number): bigint {
  if (side === BUY) return takerAmount !== 0n ? (makerAmount * ONE) / takerAmount : 0n;
  return makerAmount !== 0n ? (takerAmount * ONE) / makerAmount : 0n;
}

/** In outcome tokens for a BUY, in collateral for a SELL. */
export function calculateFee(
  feeRateBps: bigint,
  outcomeTokens: bigint,
  makerAmount: bigint,
  takerAmount: bigint,
  side: number,
): bigint {
  if (feeRateBps === 0n) return 0n;
  const price = calculatePrice(makerAmount, takerAmount, side);
  if (price === 0n || price > ONE) return 0n;
  if (side === BUY) return (feeRateBps * min(price, ONE - price) * outcomeTokens) / (price * BPS_DIVISOR);
  return (feeRateBps * min(price, ONE - price) * outcomeTokens) / (BPS_DIVISOR * ONE);
}
