import { ExchangeError } from 'ctf-exchange-client';
import { cents, centsOf, PIPS_ONE, pipsOf } from './units';

/** The reason of a refusal in words, and the field to which they belong. */
export interface Refused {
  readonly field: 'price' | 'shares' | 'amount' | 'form';
  readonly text: string;
}

/** The facts of the refused order that the words need. */
export interface Ticket {
  readonly side: 'BUY' | 'SELL';
  readonly outcome: string;
  /** Names of both outcomes. */
  readonly names?: readonly [string, string];
  readonly tick: string;
  readonly lot: string;
  readonly least: string;
}

type Facts = Readonly<Record<string, unknown>>;
export type Say = (facts: Facts, ticket: Ticket) => string;

export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const isPrice = (value: unknown): value is string =>
  typeof value === 'string' && /^[01](\.\d{1,4})?$/.test(value);
const inCents = (value: unknown): string => (isPrice(value) ? centsOf(value) : text(value));
const amount = (value: unknown): string =>
  Number(value).toLocaleString(undefined, { maximumFractionDigits: 6 });

/** "62¢ or 63¢": those of the prices that are strictly between 0 and 1. */
function nearestPrices({ nearest }: Facts): string {
  const prices = Array.isArray(nearest) ? nearest.filter(isPrice) : [];
  return [...new Set(prices)]
    .filter((price) => pipsOf(price) > 0 && pipsOf(price) < PIPS_ONE)
    .map((price) => cents(pipsOf(price)))
    .join(' or ');
}

const nearestSizes = ({ nearest }: Facts): string =>
  Array.isArray(nearest)
    ? [...new Set(nearest.map(text))]
        .filter((size) => Number(size) > 0)
        .map(amount)
        .join(' or ')
    : '';

function shortOf({ required, available, asset }: Facts, { side, outcome, names }: Ticket): string {
  if (required === undefined || available === undefined) return 'Your free balance does not cover this.';
  if (asset === 'COLLATERAL' || (asset === undefined && side === 'BUY')) {
    return `This needs $${amount(required)} and you have $${amount(available)} free. Buy less, cancel open orders, or add funds.`;
  }
  const held = asset === 'NO' ? (names?.[1] ?? 'No') : asset === 'YES' ? (names?.[0] ?? 'Yes') : outcome;
  return `You would sell ${amount(required)} ${held} ${Number(required) === 1 ? 'share' : 'shares'} and have ${amount(available)} free. Sell less, or cancel orders that hold them.`;
}

const PRICE: Readonly<Record<string, Say>> = {
  INVALID_TICK: (facts, { tick }) => {
    const near = nearestPrices(facts);
    return `Prices here go in steps of ${centsOf(tick)}${near === '' ? '.' : `: try ${near}.`}`;
  },
  PRICE_OUT_OF_RANGE: (_, { tick }) =>
    `A price lies between ${centsOf(tick)} and ${cents(PIPS_ONE - pipsOf(tick))}.`,
  POST_ONLY_WOULD_CROSS: ({ best }, { side }) =>
    `At this price the order would trade at once${isPrice(best) ? ` against ${inCents(best)}` : ''}, and post-only orders only rest. ${
      side === 'BUY' ? 'Bid lower' : 'Ask for more'
    }, or choose another type.`,
};

const SHARES: Readonly<Record<string, Say>> = {
  INVALID_LOT: (facts, { lot }) => {
    const near = nearestSizes(facts);
    return `Shares here go in steps of ${lot}${near === '' ? '.' : `: try ${near}.`}`;
  },
  SIZE_OUT_OF_RANGE: (_, { least }) => `Enter between ${amount(least)} and 1,000,000,000 shares.`,
  INSUFFICIENT_BALANCE: shortOf,
  FOK_NOT_FILLED: ({ available }) =>
    available === undefined
      ? 'The book cannot fill all of it at this price, so nothing was bought or sold.'
      : `Only ${amount(available)} ${Number(available) === 1 ? 'share is' : 'shares are'} available at this price, so nothing was traded. Enter fewer, change the price, or choose another type.`,
};

export const again = 'Please try again in a moment.';
export const ours = 'This is a fault of this page or of the exchange, not yours.';

/** The other codes that can be met before the page has loaded its other parts (refusal-words.ts). */
const FORM: Record<string, Say> = {
  MARKET_NOT_FOUND: () => 'This market does not exist.',
  NOT_FOUND: () => `The exchange has nothing at this address. ${ours}`,
  UNAUTHORIZED: () => 'Sign in first: with your wallet, or with a test wallet.',
  NOT_SIGNED_IN: () => 'Sign in first: with your wallet, or with a test wallet.',
  TOKEN_INVALID: () => 'Your session has ended. Sign in again.',
  TOKEN_EXPIRED: () => 'Your session has ended. Sign in again.',
  REFRESH_REUSED: () => 'Your session was closed for safety. Sign in again.',
  SIWE_INVALID: () =>
    'The exchange did not accept the signed sign-in message. Is your wallet on another account?',
  NONCE_INVALID: () => 'Signing in took too long. Try again.',
  RATE_LIMITED: ({ retryAfterMs }) =>
    typeof retryAfterMs === 'number' && retryAfterMs > 120_000
      ? `You have done this too often. Try again in ${Math.ceil(retryAfterMs / 60_000)} minutes.`
      : 'Too many requests. Wait a few seconds and try again.',
  CANCEL_ONLY: () => 'The exchange accepts no new orders right now; you can still cancel.',
  HALTED: () => 'The exchange is halted by its operator. Nothing was placed.',
  UNAVAILABLE: () => `The exchange cannot answer right now. ${again}`,
  INTERNAL: ({ requestId }) =>
    `Something went wrong at the exchange. If it happens again, report the request id ${text(requestId)}.`,
  NOT_SENT: () => `Nothing was sent, because the exchange could not be reached. ${again}`,
  NETWORK: () => `The exchange could not be reached. Is this device online? ${again}`,
  TIMEOUT: () => `The exchange did not answer in time. ${again}`,
  INVALID_REQUEST: ({ detail }) => `The exchange did not accept this: ${text(detail)}.`,
};

/** Adds the words of a part that is loaded later. */
export const learnWords = (more: Readonly<Record<string, Say>>): void => void Object.assign(FORM, more);

const NO_TICKET: Ticket = { side: 'BUY', outcome: 'Yes', tick: '0.01', lot: '0.01', least: '0.01' };

/** Codes that have words; a test compares them with the exchange's codes. */
export const codesWithWords = (): readonly string[] => [PRICE, SHARES, FORM].flatMap(Object.keys);

const TABLES = [
  ['price', PRICE],
  ['shares', SHARES],
  ['form', FORM],
] as const;

/** The words of a code; null when it has none. */
function saying(code: string, facts: Facts, ticket: Ticket): Refused | null {
  for (const [field, table] of TABLES) {
    const say = table[code];
    if (say) return { field, text: say(facts, ticket) };
  }
  return null;
}

/** The same words, where the page itself finds what the exchange would refuse. */
export const wordsOf = (code: string, ticket: Partial<Ticket>, facts: Facts = {}): Refused =>
  saying(code, facts, { ...NO_TICKET, ...ticket }) ?? { field: 'form', text: code };

/** Any error in words, for the person whose action caused it. */
export function wordsFor(error: unknown, ticket: Ticket = NO_TICKET): Refused {
  if (error instanceof ExchangeError) {
    const { code, detail, requestId, retryAfterMs } = error;
    const facts: Facts = { detail, requestId, retryAfterMs, ...error.problem };
    return saying(code, facts, ticket) ?? { field: 'form', text: detail };
  }
  if (error instanceof WalletRefusal || error instanceof RangeError)
    return { field: 'form', text: error.message };
  return { field: 'form', text: 'That did not work. Reload the page and try again.' };
}

/** The action that a wallet refused, in its words or in ours. */
export class WalletRefusal extends Error {}
