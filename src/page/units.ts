import { type Decimal, formatDecimal, parseDecimal } from 'ctf-exchange-client';

/** Integers in the code, words on the page: prices in pips of 0.0001, sizes in lots of 0.01 share, money in micro-units. */
export const PIPS_ONE = 10_000;
export const LOTS_ONE = 100;
export const MICRO_ONE = 1_000_000;
/** A billion shares, the largest order. */
export const LOTS_MAX = 100_000_000_000;

const PRICE_DECIMALS = 4;
const SIZE_DECIMALS = 2;
const MICRO_DECIMALS = 6;

export const pipsOf = (price: Decimal): number => Number(parseDecimal(price, PRICE_DECIMALS));
/** Pips of a midpoint or an average, which may be finer than a price; only for display. 0.285 is 2850, which rounds as in a live book. */
export const aboutPips = (price: Decimal): number => Math.round(Number(price) * PIPS_ONE * 100) / 100;
export const lotsOf = (size: Decimal): number => Number(parseDecimal(size, SIZE_DECIMALS));
export const priceOf = (pips: number): Decimal => formatDecimal(BigInt(pips), PRICE_DECIMALS);
export const sizeOf = (lots: number): Decimal => formatDecimal(BigInt(lots), SIZE_DECIMALS);

/** Balances and values; a loss begins with its sign. */
export function microOf(amount: Decimal): number {
  const micro = Number(parseDecimal(amount.replace(/^-/, ''), MICRO_DECIMALS));
  return amount.startsWith('-') ? -micro : micro;
}

/** For a field, with a point in every language. */
const trimmed = (value: number, decimals: number): string => value.toFixed(decimals).replace(/\.?0+$/, '');

const NUMBERS = new Intl.NumberFormat();
/** What this browser writes before the decimals. */
const POINT = NUMBERS.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';
const shown = (value: number, decimals: number): string => trimmed(value, decimals).replace('.', POINT);

/** A number as this browser writes it. */
export const numberWords = (value: number): string => NUMBERS.format(value);
/** The same with all of these decimals. */
export const fixed = (value: number, decimals: number): string =>
  value.toLocaleString(undefined, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });

/** "62¢", "62.5¢". */
export const cents = (pips: number): string => `${shown(pips / 100, 2)}¢`;

/** "62.3¢" where there is little room: hundredths of a cent matter only next to 0 and to a dollar. */
export const shortCents = (pips: number): string =>
  pips < WHOLE_CENT_PIPS || pips > PIPS_ONE - WHOLE_CENT_PIPS ? cents(pips) : `${shown(pips / 100, 1)}¢`;

/** An average price in cents, with up to two decimals: "61.83¢". */
export const centsOf = (price: Decimal): string => `${shown(Number(price) * 100, 2)}¢`;

const SHARES = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
export const shares = (lots: number): string => SHARES.format(lots / LOTS_ONE);

/** "1 share", "10 pairs". */
export const counted = (lots: number, name: 'share' | 'pair'): string =>
  `${shares(lots)} ${name}${lots === LOTS_ONE ? '' : 's'}`;

const DOLLARS = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });
export const dollars = (micro: number): string => DOLLARS.format(micro / MICRO_ONE);

/** Money to spend is never rounded up. */
const CENT_MICRO = 10_000;
export const wholeCents = (micro: number): number => Math.floor(micro / CENT_MICRO) * CENT_MICRO;

const COMPACT = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  maximumFractionDigits: 1,
});
/** "$1.2M": where only the order of magnitude matters. */
const roughly = (micro: number): string => COMPACT.format(micro / MICRO_ONE);

const WHOLE = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
});
/** "$898", "$12.4K": for a narrow column. */
export const roundly = (micro: number): string =>
  micro < 10_000 * MICRO_ONE ? WHOLE.format(micro / MICRO_ONE) : roughly(micro);

const COMPACT_SHARES = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
export const roughShares = (lots: number): string =>
  lots < 100_000 * LOTS_ONE ? shares(lots) : COMPACT_SHARES.format(lots / LOTS_ONE);

export const WHOLE_CENT_PIPS = 100;
/** Nearer to 0 or to 1, a tenth of a percent says something. */
export const EDGE_PIPS = 1_000;

/** A price as a chance: "62%"; "4.5%" near the ends, or where prices are finer than a cent. */
export function percent(pips: number, tickPips = WHOLE_CENT_PIPS): string {
  const isFine = tickPips < WHOLE_CENT_PIPS || pips < EDGE_PIPS || pips > PIPS_ONE - EDGE_PIPS;
  return `${isFine ? shown(pips / 100, 1) : Math.round(pips / 100)}%`;
}

/** A difference of two prices in points of a hundred, to a tenth. */
export const pointsOf = (pips: number): number => Math.round(pips / 10) / 10;

const GROUP = POINT === ',' ? '.' : ',';
const GROUPED = new RegExp(`^[1-9]\\d{0,2}(\\${GROUP}\\d{2,3})*\\${GROUP}\\d{3}(\\${POINT}\\d*)?$`);

/** A number that a person types: "62", "62.5", "62,5", "1,000.5". Null when it is no number, or finer than `decimals`. */
function typed(text: string, decimals: number): number | null {
  const plain = text.replace(/[\s¢$'’]/g, '');
  // Digits in groups, as this browser writes them; elsewhere a comma is a decimal point.
  const point = (GROUPED.test(plain) ? plain.replaceAll(GROUP, '') : plain)
    .replace(',', '.')
    .replace(POINT, '.');
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

/** Dollars as typed, in micro-units; the smallest amount is a cent. */
export const dollarsTyped = (text: string): number | null => {
  const inCents = typed(text, 2);
  return inCents === null ? null : inCents * (MICRO_ONE / 100);
};

/** "$20", "$20.50". */
export const shortDollars = (micro: number): string =>
  Math.round(micro / CENT_MICRO) % 100 === 0 ? WHOLE.format(micro / MICRO_ONE) : dollars(micro);

/** Money in the form that the exchange accepts. */
export const decimalOf = (micro: number): Decimal => formatDecimal(BigInt(micro), MICRO_DECIMALS);

/** A gain shows its sign, as a loss does. */
export const signedDollars = (micro: number): string => `${micro > 0 ? '+' : ''}${dollars(micro)}`;

/** The text for a field, which `pipsTyped` parses. */
export const centsField = (pips: number): string => trimmed(pips / 100, 2);

/** Dates as this browser writes them; in English the day comes before its month everywhere. */
const LOCALE = NUMBERS.resolvedOptions().locale.startsWith('en') ? 'en-GB' : undefined;
/** Columns are as wide as these times. */
const CLOCK_PARTS = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const CLOCK = new Intl.DateTimeFormat(LOCALE, CLOCK_PARTS);
const TIME = new Intl.DateTimeFormat(LOCALE, { ...CLOCK_PARTS, second: '2-digit' });
const DAY = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' });
const DATE = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' });
const DAY_MS = 86_400_000;

/** "14:02". */
export const clockTime = (ms: number): string => CLOCK.format(new Date(ms));
/** "14:02:33". */
export const exactTime = (ms: number): string => TIME.format(new Date(ms));

/** Shows the time of a recent moment, the day of an older one. */
export function when(iso: string): string {
  const at = new Date(iso);
  return Date.now() - at.getTime() < DAY_MS ? TIME.format(at) : DAY.format(at);
}

/** The time by this device's clock. */
export const nowMs = (): number => Date.now();

const DAY_TIME = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', ...CLOCK_PARTS });
export const dayAndTime = (ms: number): string => DAY_TIME.format(new Date(ms));

/** "2 h 10 min", "3 days": a remaining or past duration. */
export function lasting(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return minutes < 10 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}

/** The moment of a deadline, as this browser writes it, with its time zone. */
const DEADLINE = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
});
export const deadlineOf = (iso: string): string => DEADLINE.format(new Date(iso));

export const dateOf = (iso: string): string => DATE.format(new Date(iso));

/** "0x12…89ab". */
export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;
