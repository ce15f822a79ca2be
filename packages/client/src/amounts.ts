import { shown } from './input';
import type { Decimal } from './types';

/** Exact decimals, without floating-point numbers. */

const DECIMAL = /^(?:0|[1-9][0-9]{0,59})(?:\.[0-9]{1,60})?$/;

/** Parses a decimal string to an integer of 10^-decimals. Throws a RangeError on any other text, or too many decimals. */
export function parseDecimal(text: Decimal, decimals: number, what = 'the number'): bigint {
  if (typeof text !== 'string' || !DECIMAL.test(text)) {
    throw new RangeError(`${what} must be a decimal string like "0.62", not ${shown(text)}`);
  }
  const [whole = '', fraction = ''] = text.split('.');
  if (/[^0]/.test(fraction.slice(decimals))) {
    throw new RangeError(`${what} has more than ${decimals} decimals: ${text}`);
  }
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
}

/** Formats such an integer, without trailing zeros. */
export function formatDecimal(scaled: bigint, decimals: number): Decimal {
  const sign = scaled < 0n ? '-' : '';
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return sign + (fraction === '' ? whole : `${whole}.${fraction}`);
}

/** Prices are whole numbers of 0.0001. */
export const PRICE_DECIMALS = 4;
const ONE = 10n ** BigInt(PRICE_DECIMALS);

/** The same price seen from the other outcome: No = 1 - Yes. */
export const complementPrice = (price: Decimal): Decimal =>
  formatDecimal(ONE - parseDecimal(price, PRICE_DECIMALS, 'a price'), PRICE_DECIMALS);
