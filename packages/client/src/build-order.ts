import { PRICE_DECIMALS, parseDecimal } from './amounts';
import {
  address,
  anything,
  checkMembers,
  digits,
  instant,
  integer,
  oneOf,
  optional,
  type Shape,
  unsigned,
} from './input';
import { checkSigner, mutableTypes, type Signer } from './sessions';
import {
  type Decimal,
  type Eip712,
  ORDER_TYPES,
  type OrderType,
  type OutcomeIndex,
  type Side,
  type Trading,
} from './types';
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
  /** Limit in the order's own token, for example "0.62"; the worst acceptable price of a MARKET order. */
  readonly price: Decimal;
  /** Shares. For a MARKET BUY: the smallest size that makes it FILLED. */
  readonly size?: Decimal | undefined;
  /** The budget of a MARKET BUY; by default price x size. */
  readonly budget?: Decimal | undefined;
  /**
   * The time at which it expires; a number is in epoch milliseconds. By default never. An order that never rests must have
   * one: the exchange may cancel its remainder, but a signature without an expiration stays valid on the chain.
   */
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

const FEE_RATE_BPS_MAX = 10_000;
const DECIMALS_MAX = 36;
/** One lot of the exchange is 0.01 shares. */
const SIZE_DECIMALS = 2;

/** The members of an order that `placeOrder` takes. */
export const NEW_ORDER: Shape = {
  outcomeIndex: oneOf(0, 1),
  side: oneOf('BUY', 'SELL'),
  orderType: optional(oneOf(...ORDER_TYPES)),
  // The amounts below check these three.
  price: anything,
  size: anything,
  budget: anything,
  expiresAt: optional(instant),
  feeRateBps: optional(integer(0, FEE_RATE_BPS_MAX)),
  nonce: optional(unsigned),
  salt: optional(unsigned),
  decimals: optional(integer(PRICE_DECIMALS, DECIMALS_MAX)),
};
const ORDER: Shape = { ...NEW_ORDER, maker: address, signatureType: optional(oneOf(0, 3)) };

/** The signed members. */
export const UNSIGNED: Shape = {
  salt: digits,
  maker: address,
  signer: address,
  taker: address,
  tokenId: digits,
  makerAmount: digits,
  takerAmount: digits,
  expiration: digits,
  nonce: digits,
  feeRateBps: digits,
  side: oneOf(0, 1),
  signatureType: oneOf(0, 3),
};

/** Types of which nothing rests: the exchange executes them at once or never. */
export const isImmediate = (type: OrderType | undefined): boolean =>
  type === 'MARKET' || type === 'IOC' || type === 'FOK';

const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';
const DECIMALS = 18;
const SALT_BYTES = 16;
const PRICE_SCALE = 10n ** BigInt(PRICE_DECIMALS);

/** The members to sign, with exact amounts. Throws a RangeError or TypeError on input that no order can have. */
export function buildOrder(terms: OrderTerms, params: OrderParams): UnsignedOrder {
  checkTerms(terms);
  checkMembers(params, ORDER, 'an order');
  const { outcomeIndex, side, maker, orderType, expiresAt } = params;
  const tokenId = terms.market.outcomes[outcomeIndex]?.tokenId ?? '';
  if (expiresAt === undefined && isImmediate(orderType))
    throw new RangeError(`expiresAt is missing: a signed ${orderType} order must end`);
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
    expiration: expiresAt === undefined ? '0' : String(Math.floor(Number(expiresAt) / 1_000)),
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
  if (price === undefined) throw new RangeError('price is missing');
  const pips = positive(parseDecimal(price, PRICE_DECIMALS, 'price'), 'price');
  if (pips >= PRICE_SCALE) throw new RangeError('price must be below 1');
  if (orderType === 'MARKET' && side === 'BUY') {
    const tokens = size === undefined ? null : positive(parseDecimal(size, decimals, 'size'), 'size');
    const spend = budget === undefined ? null : positive(parseDecimal(budget, decimals, 'budget'), 'budget');
    return marketBuy(pips, tokens, spend);
  }
  if (budget !== undefined) throw new RangeError('budget is for a MARKET BUY');
  if (size === undefined) throw new RangeError('size is missing');
  parseDecimal(size, SIZE_DECIMALS, 'size');
  const tokens = positive(parseDecimal(size, decimals, 'size'), 'size');
  return { tokens, collateral: exactly(tokens * pips, PRICE_SCALE) };
}

/** The budget is the most that may be spent. The smallest purchase follows from the worst price, which the chain enforces. */
function marketBuy(pips: bigint, tokens: bigint | null, spend: bigint | null): Amounts {
  if (spend === null) {
    if (tokens === null) throw new RangeError('a MARKET BUY needs a budget or a size');
    return { collateral: exactly(tokens * pips, PRICE_SCALE), tokens };
  }
  const least = positive((spend * PRICE_SCALE) / pips, 'budget');
  if (tokens !== null && tokens < least) throw new RangeError('price must be at least budget / size');
  return { collateral: spend, tokens: tokens ?? least };
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

function randomSalt(): bigint {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  return bytes.reduce((salt, byte) => (salt << 8n) | BigInt(byte), 0n);
}

/** The order with the wallet's EIP-712 signature. */
export async function signOrder(signer: Signer, eip712: Eip712, order: UnsignedOrder): Promise<SignedOrder> {
  checkSigner(signer);
  checkEip712(eip712);
  checkMembers(order, UNSIGNED, 'an order to sign');
  const { domain, types } = eip712;
  const signature = await signer.signTypedData(domain, mutableTypes(types), { ...order });
  return { ...order, signature };
}

/** Throws a TypeError on anything but the facts of a market. */
export function checkTerms(terms: unknown): void {
  const { market, eip712, limits } = (terms ?? {}) as Partial<OrderTerms>;
  const tokens = Array.isArray(market?.outcomes) ? market.outcomes.map((one) => one?.tokenId) : [];
  if (typeof market?.id !== 'string' || market.id === '' || tokens.length !== 2 || limits === undefined)
    throw new TypeError('market must be an id, a slug, a condition id, or an answer of `trading`');
  for (const token of tokens) digits(token, 'tokenId');
  integer(0, FEE_RATE_BPS_MAX)(limits.feeRateBps, 'limits.feeRateBps');
  checkEip712(eip712);
}

function checkEip712(eip712: unknown): void {
  const { domain, types } = (eip712 ?? {}) as Partial<Eip712>;
  if (!domain?.verifyingContract || !types?.Order)
    throw new TypeError('eip712 must be that of `trading` or `config`');
}
