import { Refusal } from './errors';

/**
 * The units of the exchange. Integers only; the wire carries decimal strings in whole units.
 *
 *   price       pips of 0.0001        1..9999
 *   size        lots of 0.01 share    1..LOTS_MAX
 *   collateral  micro-units of 10^-6  below 2^53; cost = lots x pips, exactly
 *   tokens      micro-units of 10^-6  one lot is 10^4 of them
 */
declare const unit: unique symbol;
export type Pips = number & { readonly [unit]: 'pips' };
export type Lots = number & { readonly [unit]: 'lots' };
export type Micro = number & { readonly [unit]: 'micro' };

export const PIPS_PER_ONE = 10_000;
export const LOTS_PER_SHARE = 100;
export const MICRO_PER_LOT = 10_000;
export const MICRO_PER_ONE = 1_000_000;
/** 1,000,000,000 shares: the largest order. */
export const LOTS_MAX = 100_000_000_000;

const PIPS_DECIMALS = 4;
const LOTS_DECIMALS = 2;
const MICRO_DECIMALS = 6;

export const pips = (n: number): Pips => n as Pips;
export const lots = (n: number): Lots => n as Lots;
export const micro = (n: number): Micro => n as Micro;

/** The same level seen from the other outcome: No = 1 - Yes. */
export const complement = (price: Pips): Pips => pips(PIPS_PER_ONE - price);

/** Cost of `size` at `price`, exact: lots x pips = micro-units. */
export const cost = (size: Lots, price: Pips): Micro => micro(size * price);

/** `scaled` / 10^decimals as a decimal string without exponent or trailing zeros. */
export function formatScaled(scaled: number | bigint, decimals: number): string {
  const negative = scaled < 0;
  const digits = (negative ? -scaled : scaled).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  let end = digits.length;
  while (end > whole.length && digits.charCodeAt(end - 1) === 48) end--;
  const text = end > whole.length ? `${whole}.${digits.slice(whole.length, end)}` : whole;
  return negative && text !== '0' ? `-${text}` : text;
}

export const formatPips = (price: number): string => formatScaled(price, PIPS_DECIMALS);
export const formatLots = (size: number): string => formatScaled(size, LOTS_DECIMALS);
export const formatMicro = (amount: number | bigint): string => formatScaled(amount, MICRO_DECIMALS);

const DECIMAL = /^(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?$/;

/**
 * A decimal string as an integer scaled by 10^decimals, or null when it is not a plain decimal
 * or has more decimals than the unit can hold.
 */
export function parseScaled(text: string, decimals: number): bigint | null {
  if (!DECIMAL.test(text)) return null;
  const [whole = '', fraction = ''] = text.split('.');
  if (/[^0]/.test(fraction.slice(decimals))) return null;
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
}

const parseUnit = (decimals: number, what: string) => (text: string) => {
  const scaled = parseScaled(text, decimals);
  if (scaled === null || scaled > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new Refusal(
      'INVALID_REQUEST',
      `${what} must be a decimal string with at most ${decimals} decimals`,
    );
  }
  return Number(scaled);
};

/** Throws INVALID_REQUEST. */
export const parsePips = (text: string): Pips => pips(parseUnit(PIPS_DECIMALS, 'a price')(text));
export const parseLots = (text: string): Lots => lots(parseUnit(LOTS_DECIMALS, 'a size')(text));

/**
 * Average price of `quote` micro-units over `size` lots: up to 6 decimals, rounded half up; null without fills.
 */
export function formatAverage(quote: Micro, size: Lots): string | null {
  return formatRatio(BigInt(quote), BigInt(size) * BigInt(MICRO_PER_LOT));
}

/** The same, of micro-units of collateral over micro-units of tokens. */
export function formatRatio(collateral: bigint, tokens: bigint): string | null {
  if (tokens === 0n) return null;
  const scaled = collateral * BigInt(MICRO_PER_ONE);
  return formatScaled((2n * scaled + tokens) / (2n * tokens), MICRO_DECIMALS);
}
