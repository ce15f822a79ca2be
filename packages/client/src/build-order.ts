import { PRICE_DECIMALS, parseDecimal } from './amounts';
import { mutableTypes, type Signer } from './sessions';
import type { Decimal, Eip712, OrderType, OutcomeIndex, Side, Trading } from './types';
import type { SignedOrder, UnsignedOrder } from './types-account';

/** The facts of a market that an order needs; the answer of GET /markets/{id}/trading has them. */
export type OrderTerms = {
  readonly market: Pick<Trading['market'], 'id'> & {
    readonly outcomes: readonly { readonly tokenId: string }[];
  };
  readonly eip712: Eip712;
  readonly limits: Pick<Trading['limits'], 'feeRateBps'>;
};

export interface OrderParams {
  /** 0 is Yes, 1 is No. */
  readonly outcomeIndex: OutcomeIndex;
  readonly side: Side;
  /** GTC by default. */
  readonly orderType?: OrderType | undefined;
  /** Limit in the order's own token, for example "0.62". A MARKET order needs none. */
  readonly price?: Decimal | undefined;
  /** Shares. For a MARKET BUY: the smallest size that makes it FILLED. */
  readonly size?: Decimal | undefined;
  /** The budget of a MARKET BUY; by default price x size. */
  readonly budget?: Decimal | undefined;
  /** The time at which it expires; a number is in epoch milliseconds. By default never. */
  readonly expiresAt?: Date | number | undefined;
  readonly feeRateBps?: number | undefined;
  /** The nonce of the maker, which POST /me/nonce raises. */
  readonly nonce?: number | bigint | string | undefined;
  readonly salt?: bigint | string | undefined;
  readonly maker: string;
  /** 0, a key's, by default; 3 for a contract that checks signatures itself. */
  readonly signatureType?: 0 | 3 | undefined;
  /** COLLATERAL_DECIMALS of the exchange. */
  readonly decimals?: number | undefined;
}

const MEMBER =
  /^(outcomeIndex|side|orderType|price|size|budget|expiresAt|feeRateBps|nonce|salt|maker|signatureType|decimals)$/;
/** A time in milliseconds is later; one in seconds is not, before the year 5138. */
const SECONDS_MAX = 1e8;

const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';
const DECIMALS = 18;
const SALT_BYTES = 16;
const PRICE_SCALE = 10n ** BigInt(PRICE_DECIMALS);

/** The members to sign, with exact amounts. Throws a RangeError on values that no order can have. */
export function buildOrder(terms: OrderTerms, params: OrderParams): UnsignedOrder {
  const { outcomeIndex, side, maker } = params;
  for (const name in params) if (!MEMBER.test(name)) throw new RangeError(`${name} is no member`);
  const tokenId = terms.market.outcomes[outcomeIndex]?.tokenId;
  if (tokenId === undefined) throw new RangeError('outcomeIndex must be 0 or 1');
  const { tokens, collateral } = amountsOf(params);
  const [makerAmount, takerAmount] = side === 'BUY' ? [collateral, tokens] : [tokens, collateral];
  return {
    salt: (params.salt ?? randomSalt()).toString(),
    maker,
    signer: maker,
    taker: ZERO_ADDRESS,
    tokenId,
    makerAmount: makerAmount.toString(),
    takerAmount: takerAmount.toString(),
    expiration: expirationOf(params.expiresAt),
    nonce: (params.nonce ?? 0).toString(),
    feeRateBps: String(params.feeRateBps ?? terms.limits.feeRateBps),
    side: side === 'BUY' ? 0 : 1,
    signatureType: params.signatureType ?? 0,
  };
}

interface Amounts {
  readonly tokens: bigint;
  readonly collateral: bigint;
}

function amountsOf(params: OrderParams): Amounts {
  const { side, orderType = 'GTC', price, size, budget, decimals = DECIMALS } = params;
  const of = (text: Decimal, what: string): bigint => positive(parseDecimal(text, decimals, what), what);
  const pips = price === undefined ? null : positive(parseDecimal(price, PRICE_DECIMALS, 'price'), 'price');
  const tokens = size === undefined ? null : of(size, 'size');
  if (orderType === 'MARKET' && side === 'BUY') {
    const spend = budget === undefined ? null : of(budget, 'budget');
    return marketBuy(pips, tokens, spend);
  }
  if (budget !== undefined) throw new RangeError('budget is for a MARKET BUY');
  if (tokens === null) throw new RangeError('size is missing');
  if (pips !== null) return { tokens, collateral: exactly(tokens * pips, PRICE_SCALE) };
  if (orderType !== 'MARKET') throw new RangeError('price is missing');
  // The smallest amount, so that every price is acceptable.
  return { tokens, collateral: 1n };
}

/** The budget is the most that may be spent; the smallest purchase follows from the worst price. */
function marketBuy(pips: bigint | null, tokens: bigint | null, spend: bigint | null): Amounts {
  const collateral = spend ?? (tokens !== null && pips !== null ? exactly(tokens * pips, PRICE_SCALE) : null);
  if (collateral === null) throw new RangeError('a MARKET BUY needs a budget, or a size and a price');
  if (tokens !== null) return { collateral, tokens };
  if (pips === null) return { collateral, tokens: 1n };
  return { collateral, tokens: positive((collateral * PRICE_SCALE) / pips, 'budget') };
}

function positive(amount: bigint, what: string): bigint {
  if (amount <= 0n) throw new RangeError(`${what} must be greater than zero`);
  return amount;
}

/** A division without remainder, because an amount that is off by one wei is another price. */
function exactly(dividend: bigint, divisor: bigint): bigint {
  if (dividend % divisor !== 0n) throw new RangeError('price x size is finer than the collateral');
  return dividend / divisor;
}

function expirationOf(expiresAt: Date | number | undefined): string {
  if (expiresAt === undefined) return '0';
  const seconds = Math.floor(Number(expiresAt) / 1_000);
  if (!(seconds > SECONDS_MAX)) throw new RangeError('expiresAt is in milliseconds');
  return String(seconds);
}

function randomSalt(): bigint {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  return bytes.reduce((salt, byte) => (salt << 8n) | BigInt(byte), 0n);
}

/** The order with the wallet's EIP-712 signature. */
export async function signOrder(
  signer: Signer,
  { domain, types }: Eip712,
  order: UnsignedOrder,
): Promise<SignedOrder> {
  const signature = await signer.signTypedData(domain, mutableTypes(types), { ...order });
  return { ...order, signature };
}
