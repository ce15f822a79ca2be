import { type Decimal, formatDecimal, parseDecimal } from 'ctf-exchange-client';

/** Integers inside, words outside: prices in pips of 0.0001, sizes in lots of 0.01 share, money in micro-units. */
export const PIPS_ONE = 10_000;
export const LOTS_ONE = 100;
export const MICRO_ONE = 1_000_000;
/** A billion shares, the most an order may have. */
export const LOTS_MAX = 100_000_000_000;

const PRICE_DECIMALS = 4;
const SIZE_DECIMALS = 2;
const MICRO_DECIMALS = 6;

export const pipsOf = (price: Decimal): number => Number(parseDecimal(price, PRICE_DECIMALS));
/** Of a middle or an average, which may be finer than a price: only to be shown. */
export const aboutPips = (price: Decimal): number => Number(price) * PIPS_ONE;
export const lotsOf = (size: Decimal): number => Number(parseDecimal(size, SIZE_DECIMALS));
export const priceOf = (pips: number): Decimal => formatDecimal(BigInt(pips), PRICE_DECIMALS);
export const sizeOf = (lots: number): Decimal => formatDecimal(BigInt(lots), SIZE_DECIMALS);

/** Balances and values; a loss has its sign in front. */
export function microOf(amount: Decimal): number {
  const micro = Number(parseDecimal(amount.replace(/^-/, ''), MICRO_DECIMALS));
  return amount.startsWith('-') ? -micro : micro;
}

const trimmed = (value: number, decimals: number): string => value.toFixed(decimals).replace(/\.?0+$/, '');

/** "62¢", "62.5¢". */
export const cents = (pips: number): string => `${trimmed(pips / 100, 2)}¢`;

/** Of an average, with up to two decimals of a cent: "61.83¢". */
export const centsOf = (price: Decimal): string => `${trimmed(Number(price) * 100, 2)}¢`;

const SHARES = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
export const shares = (lots: number): string => SHARES.format(lots / LOTS_ONE);

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
export const dollars = (micro: number): string => DOLLARS.format(micro / MICRO_ONE);

const COMPACT = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  maximumFractionDigits: 1,
});
/** "$1.2M": where the order of magnitude matters. */
const roughly = (micro: number): string => COMPACT.format(micro / MICRO_ONE);

const WHOLE = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
});
/** "$898", "$12.4K": in a narrow column. */
export const roundly = (micro: number): string =>
  micro < 10_000 * MICRO_ONE ? WHOLE.format(micro / MICRO_ONE) : roughly(micro);

const COMPACT_SHARES = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
export const roughShares = (lots: number): string =>
  lots < 100_000 * LOTS_ONE ? shares(lots) : COMPACT_SHARES.format(lots / LOTS_ONE);

/** A price as a chance: "62%", "62.5%". */
export const percent = (pips: number): string => `${trimmed(pips / 100, 1)}%`;

/**
 * The numbers that a person types: "62", "62.5", "62,5", "1,000.5". Null when it is no number, or finer than
 * `decimals`.
 */
function typed(text: string, decimals: number): number | null {
  const plain = text.replace(/[\s¢$]/g, '');
  // A comma before three digits groups, any other one is a decimal point.
  const point = /,\d{3}(?:\D|$)/.test(plain) ? plain.replace(/,/g, '') : plain.replace(',', '.');
  const match = /^(\d{0,12})(?:\.(\d*))?$/.exec(point);
  if (!match || point === '' || point === '.') return null;
  const [, whole = '', fraction = ''] = match;
  if (/[^0]/.test(fraction.slice(decimals))) return null;
  return Number(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
}

/** Cents as typed, in pips. */
export const pipsTyped = (text: string): number | null => typed(text, 2);
/** Shares as typed, in lots. */
export const lotsTyped = (text: string): number | null => typed(text, SIZE_DECIMALS);

/** For a field: what `pipsTyped` reads back. */
export const centsField = (pips: number): string => trimmed(pips / 100, 2);

const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const DAY_MS = 86_400_000;

/** The time of something recent, the day of something older. */
export function when(iso: string): string {
  const at = new Date(iso);
  return Date.now() - at.getTime() < DAY_MS ? TIME.format(at) : DAY.format(at);
}

export const dateOf = (iso: string): string => DATE.format(new Date(iso));

/** "0x12…89ab". */
export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;
