import { Refusal } from './errors';
import { type MarketTerms, type OutcomeIndex, outcomeOf } from './market';
import type { Side } from './match';
import type { OrderType } from './status';
import {
  formatLots,
  formatMicro,
  formatPips,
  LOTS_MAX,
  type Lots,
  lots,
  MICRO_PER_ONE,
  type Micro,
  micro,
  PIPS_PER_ONE,
  type Pips,
  pips,
} from './units';

/** The twelve signed members and the signature, canonical: every number parsed, every address checksummed. */
export interface SignedOrder {
  readonly salt: bigint;
  readonly maker: string;
  readonly signer: string;
  readonly taker: string;
  readonly tokenId: bigint;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  /** Epoch seconds; 0 never expires. */
  readonly expiration: bigint;
  readonly nonce: bigint;
  readonly feeRateBps: bigint;
  readonly side: Side;
  readonly signatureType: number;
  /** 0x-prefixed hex, as sent. */
  readonly signature: string;
}

/** The order as the engine matches it: the signed struct in the units of the exchange. */
export interface Order {
  readonly side: Side;
  readonly outcome: OutcomeIndex;
  /** Limit in the order's own token. */
  readonly pricePips: Pips;
  /** Size; for a MARKET BUY the smallest size that makes it FILLED. */
  readonly sizeLots: Lots;
  /** The budget of a MARKET BUY; 0 for every other order. */
  readonly budgetMicro: Micro;
}

export const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';
export const SIGNATURE_TYPE_EOA = 0;
/** ERC-1271: the maker is a contract. */
export const SIGNATURE_TYPE_CONTRACT = 3;

/** Token and collateral amounts on the chain for each unit of the exchange. */
export interface ChainScale {
  /** Chain units per lot of 0.01 share. */
  readonly lotAmount: bigint;
  /** Chain units per micro-unit of collateral. */
  readonly microAmount: bigint;
  /** Chain units of one whole unit. */
  readonly oneAmount: bigint;
}

/** `decimals` is COLLATERAL_DECIMALS, 6 or more; with fewer, a micro-unit would not exist on the chain. */
export function chainScale(decimals: number): ChainScale {
  const oneAmount = 10n ** BigInt(decimals);
  return { oneAmount, lotAmount: oneAmount / 100n, microAmount: oneAmount / BigInt(MICRO_PER_ONE) };
}

/** Throws INVALID_TOKEN unless the order is for this market. */
export function outcomeOfOrder(order: SignedOrder, market: MarketTerms): OutcomeIndex {
  const outcome = outcomeOf(market, order.tokenId.toString());
  if (outcome === null)
    throw new Refusal(
      'INVALID_TOKEN',
      `tokenId does not belong to market ${market.id}; take it from the market's outcomes`,
    );
  return outcome;
}

/**
 * Throws INVALID_TAKER, UNSUPPORTED_SIGNATURE_TYPE or INVALID_FEE_RATE, checked in the order of docs/use/interface.md.
 * `takesContracts`: contract wallets can be asked.
 */
export function checkTerms(order: SignedOrder, market: MarketTerms, takesContracts: boolean): void {
  if (order.taker !== ZERO_ADDRESS) throw new Refusal('INVALID_TAKER');
  const { signatureType } = order;
  if (
    signatureType !== SIGNATURE_TYPE_EOA &&
    !(signatureType === SIGNATURE_TYPE_CONTRACT && takesContracts)
  ) {
    const others = takesContracts ? ', or by a contract wallet, signatureType 3' : '';
    throw new Refusal(
      'UNSUPPORTED_SIGNATURE_TYPE',
      `signatureType ${signatureType} is not supported; sign with the maker's own key, signatureType 0${others}`,
    );
  }
  if (order.feeRateBps !== BigInt(market.feeRateBps)) {
    throw new Refusal('INVALID_FEE_RATE', `feeRateBps must be ${market.feeRateBps}`, {
      required: market.feeRateBps.toString(),
    });
  }
}

/**
 * Converts the amounts of a signed order to price and size.
 * The price of an order that can rest must be on the tick and its size on the lot, so that each partial fill
 * `making * takerAmount / makerAmount` of the CTF exchange (CalculatorHelper.calculateTakingAmount) is whole on chain.
 * MARKET rounds its limit to the tick in the signer's favour.
 * Throws SIZE_OUT_OF_RANGE, INVALID_LOT, PRICE_OUT_OF_RANGE, INVALID_TICK.
 */
export function orderOf(
  signed: SignedOrder,
  outcome: OutcomeIndex,
  orderType: OrderType,
  market: MarketTerms,
  scale: ChainScale,
): Order {
  if (signed.makerAmount === 0n || signed.takerAmount === 0n) {
    throw new Refusal(
      'SIZE_OUT_OF_RANGE',
      `makerAmount and takerAmount must be greater than zero; the size may be ${sizesOf(market)}`,
    );
  }
  const { side } = signed;
  if (orderType === 'MARKET' && side === 0) return marketBuy(signed, outcome, market, scale);
  const [tokens, collateral] =
    side === 0 ? [signed.takerAmount, signed.makerAmount] : [signed.makerAmount, signed.takerAmount];
  const sizeLots = exactSize(tokens, market, scale);
  const pricePips =
    orderType === 'MARKET' ? floorPrice(collateral, tokens, market) : exactPrice(collateral, tokens, market);
  return { side, outcome, pricePips, sizeLots, budgetMicro: micro(0) };
}

const sizesOf = ({ minOrderLots }: MarketTerms): string =>
  `between ${formatLots(minOrderLots)} and ${formatLots(LOTS_MAX)} shares`;

function exactSize(tokens: bigint, market: MarketTerms, scale: ChainScale): Lots {
  const least = BigInt(market.minOrderLots) * scale.lotAmount;
  const most = BigInt(LOTS_MAX) * scale.lotAmount;
  if (tokens < least || tokens > most) {
    throw new Refusal('SIZE_OUT_OF_RANGE', `the size must be ${sizesOf(market)}`);
  }
  const step = BigInt(market.lotLots) * scale.lotAmount;
  if (tokens % step !== 0n) {
    const lower = Number(tokens / step) * market.lotLots;
    throw new Refusal('INVALID_LOT', `the size must be a multiple of ${formatLots(market.lotLots)}`, {
      nearest: [formatLots(lower), formatLots(lower + market.lotLots)],
    });
  }
  return lots(Number(tokens / scale.lotAmount));
}

/** The price as a multiple of the tick; a price is on the tick when collateral x 10^4 = tokens x pips, exactly. */
function exactPrice(collateral: bigint, tokens: bigint, market: MarketTerms): Pips {
  const scaled = collateral * BigInt(PIPS_PER_ONE);
  if (scaled <= 0n || scaled >= tokens * BigInt(PIPS_PER_ONE)) throw outOfRange(market);
  const tick = BigInt(market.tickPips);
  const lower = scaled / (tokens * tick);
  if (lower * tokens * tick !== scaled) {
    const below = Number(lower) * market.tickPips;
    throw new Refusal('INVALID_TICK', `the price must be a multiple of ${formatPips(market.tickPips)}`, {
      nearest: [below, below + market.tickPips].map(priceOrNull),
    });
  }
  return pips(Number(lower) * market.tickPips);
}

/** Null at 0 and 1, which are not prices. */
const priceOrNull = (price: number): string | null =>
  price > 0 && price < PIPS_PER_ONE ? formatPips(price) : null;

/** Limit of a MARKET SELL, rounded up to the tick; a limit of 0 or less means "no limit". */
function floorPrice(collateral: bigint, tokens: bigint, market: MarketTerms): Pips {
  const unit = tokens * BigInt(market.tickPips);
  const ticks = (collateral * BigInt(PIPS_PER_ONE) + unit - 1n) / unit;
  const price = ticks * BigInt(market.tickPips);
  if (price >= BigInt(PIPS_PER_ONE)) throw outOfRange(market);
  return pips(Number(price));
}

/** A budget and a worst price, rounded down to the tick; a price of 1 or more means "no limit". */
function marketBuy(
  signed: SignedOrder,
  outcome: OutcomeIndex,
  market: MarketTerms,
  scale: ChainScale,
): Order {
  const { makerAmount, takerAmount } = signed;
  const most = BigInt(LOTS_MAX) * scale.lotAmount;
  const budget = makerAmount / scale.microAmount;
  if (makerAmount > most || takerAmount > most || budget === 0n) {
    throw new Refusal(
      'SIZE_OUT_OF_RANGE',
      `the budget must be between ${formatMicro(1)} and ${formatLots(LOTS_MAX)}, takerAmount at most ${formatLots(LOTS_MAX)} shares`,
    );
  }
  const unit = takerAmount * BigInt(market.tickPips);
  const price = ((makerAmount * BigInt(PIPS_PER_ONE)) / unit) * BigInt(market.tickPips);
  if (price === 0n) throw outOfRange(market);
  const highest = PIPS_PER_ONE - market.tickPips;
  const step = BigInt(market.lotLots) * scale.lotAmount;
  const least = Math.max(1, Number(takerAmount / step)) * market.lotLots;
  return {
    side: 0,
    outcome,
    pricePips: pips(price > BigInt(highest) ? highest : Number(price)),
    sizeLots: lots(least),
    budgetMicro: micro(Number(budget)),
  };
}

function outOfRange(market: MarketTerms): Refusal {
  const highest = formatPips(PIPS_PER_ONE - market.tickPips);
  return new Refusal(
    'PRICE_OUT_OF_RANGE',
    `the price must be between ${formatPips(market.tickPips)} and ${highest}`,
  );
}

/** The first second of 2100, the default of public order builders. */
const EXPIRATION_MAX = 4_102_444_800n;
/** An expiration above this must be in milliseconds: as milliseconds it is a day of 2001, as seconds the year 33658. */
const MILLISECONDS_FROM = 1_000_000_000_000n;

/** The most by which an order's nonce may be above its wallet's, with funds on a chain (src/extensions/chain/lua/lib/admission.lua). */
export const NONCE_AHEAD_MAX = 1_000;

/** Seconds ahead, with funds on a chain, for an order that never rests. */
const IMMEDIATE_AHEAD_MAX_SEC = 600n;

/**
 * Throws INVALID_EXPIRATION when an order that never rests does not expire soon: the contract accepts what is left of it until
 * then, whatever happens here.
 */
export function checkImmediateExpiry(order: SignedOrder, orderType: OrderType, nowMs: number): void {
  if (orderType === 'GTC' || orderType === 'POST_ONLY') return;
  const maximum = BigInt(Math.trunc(nowMs / 1_000)) + IMMEDIATE_AHEAD_MAX_SEC;
  if (order.expiration !== 0n && order.expiration <= maximum) return;
  const detail = `a signed ${orderType} order stays valid on the chain until it expires: expiration must be at most ${maximum}, ten minutes ahead, and not 0`;
  throw new Refusal('INVALID_EXPIRATION', detail, { maximum: maximum.toString() });
}

/**
 * Throws ORDER_EXPIRED when the order has expired (`now >= expiration`), INVALID_EXPIRATION when its expiration is after
 * EXPIRATION_MAX. The script checks the expiration again, by Redis time.
 */
export function checkExpiry(order: SignedOrder, nowMs: number): void {
  if (order.expiration > EXPIRATION_MAX) {
    const isMilliseconds =
      order.expiration >= MILLISECONDS_FROM && order.expiration / 1_000n <= EXPIRATION_MAX;
    const detail = isMilliseconds
      ? `expiration is in seconds, and this looks like milliseconds; at most ${EXPIRATION_MAX}, the year 2100`
      : `expiration must be at most ${EXPIRATION_MAX}, the year 2100; 0 never expires`;
    throw new Refusal('INVALID_EXPIRATION', detail, { maximum: EXPIRATION_MAX.toString() });
  }
  if (order.expiration !== 0n && order.expiration * 1000n <= BigInt(Math.trunc(nowMs))) {
    throw new Refusal(
      'ORDER_EXPIRED',
      'expiration is in the past; sign the order with a later one, in seconds since 1970',
    );
  }
}
