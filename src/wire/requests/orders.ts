import Joi from 'joi';
import { Refusal } from '../../exchange/errors';
import type { OutcomeIndex } from '../../exchange/market';
import type { SideName } from '../../exchange/match';
import type { SignedOrder } from '../../exchange/order';
import {
  ORDER_TYPES,
  type OrderType,
  SELF_TRADE_PREVENTIONS,
  type SelfTradePrevention,
} from '../../exchange/status';
import { ADDRESS_PATTERN, createShape } from '../shape';
/** Bodies of the POST requests, as sent. All of them refuse unknown members. */

export const BATCH_ORDERS_MAX = 20;
export const CANCEL_HASHES_MAX = 100;

const UINT256 = /^(0|[1-9][0-9]*)$/;
const UINT256_DIGITS = 78;
const UINT256_MAX = (2n ** 256n - 1n).toString();
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const CLIENT_ORDER_ID = /^[A-Za-z0-9_.:-]{1,64}$/;
const UINT8 = /^(0|[1-9][0-9]{0,2})$/;
const UINT8_MAX = 255;
export const HASH = /^0x[0-9a-fA-F]{64}$/;
const CLIENT_ORDER_ID_TEXT =
  "The client's own name for the order. It may be given twice; `GET /me/orders?clientOrderId=` finds all that have it.";
const SELF_TRADE_TEXT =
  'The rule for an order that meets an order of the same maker. `NONE`, the default, lets them trade. `CANCEL_TAKER` cancels the remainder of the new order, `CANCEL_MAKER` the resting one, `CANCEL_BOTH` both.';
const DEADLINE_TEXT =
  'The time, in milliseconds since 1970 by the clock of `GET /time`, from which on the order is not booked (`DEADLINE_EXCEEDED`). It does not end a resting order; `expiration` does, which is signed and in seconds.';

/** Texts of the same length compare as their numbers do. */
const isBelow2To256 = (text: string): boolean =>
  text.length < UINT256_DIGITS || (text.length === UINT256_DIGITS && text <= UINT256_MAX);

/** Canonical, so that one number has one spelling, and below 2^256. */
const uint256 = Joi.string()
  .max(UINT256_DIGITS)
  .pattern(UINT256)
  .custom((text: string, helpers) =>
    // A longer one is refused above.
    text.length > UINT256_DIGITS || isBelow2To256(text) ? text : helpers.error('string.uint256'),
  )
  .required();

export const addressSchema = Joi.string().pattern(ADDRESS, ADDRESS_PATTERN);
export const hashSchema = Joi.string().pattern(HASH, 'hash of 0x and 64 hexadecimal digits');

const uint8 = Joi.alternatives().try(
  Joi.number().integer().min(0).max(UINT8_MAX),
  Joi.string()
    .pattern(UINT8)
    .custom((text: string, helpers) => (Number(text) > UINT8_MAX ? helpers.error('any.invalid') : text)),
);

const orderSchema = Joi.object({
  salt: uint256.description('A random number. It makes two otherwise equal orders two orders.'),
  maker: addressSchema.required().description('The wallet that gives and receives the funds.'),
  signer: addressSchema.required().description('The wallet that signs: the same address as `maker`.'),
  taker: addressSchema.required().description('The zero address: anybody may trade with the order.'),
  tokenId: uint256.description("The token to buy or sell: the `tokenId` of one of the market's `outcomes`."),
  makerAmount: uint256.description(
    'The most that the maker gives, in chain units: collateral for a BUY, tokens for a SELL. `limits.collateralDecimals` of `GET /config` says how many units make one.',
  ),
  takerAmount: uint256.description(
    'The least that the maker gets for it, in chain units: tokens for a BUY, collateral for a SELL. The price is collateral divided by tokens, exactly on the tick.',
  ),
  expiration: uint256.description(
    'The time when the order expires, in seconds since 1970, at most 4102444800 (2100-01-01); `0` means never.',
  ),
  nonce: uint256.description("The maker's current nonce: `0` until `POST /me/nonce` raised it."),
  feeRateBps: uint256.description("The market's `feeRateBps`, in hundredths of a percent."),
  side: Joi.valid(0, 1, '0', '1').required().description('`0` is BUY, `1` is SELL.'),
  signatureType: uint8
    .required()
    .description(
      '`0`: the key of an ordinary wallet. `3`: a contract wallet (ERC-1271), where `signatureTypes` of `GET /config` has it.',
    ),
  signature: Joi.string()
    .required()
    .description(
      'The EIP-712 signature of the twelve other members: 65 bytes in hexadecimal, r, s, v; for a contract wallet what its contract takes, at most 1,024 bytes.',
    ),
});

/** The signed order alone, which has its own name in the documents. */
export const orderShape = createShape<OrderBody>(orderSchema);

export interface OrderBody {
  readonly salt: string;
  readonly maker: string;
  readonly signer: string;
  readonly taker: string;
  readonly tokenId: string;
  readonly makerAmount: string;
  readonly takerAmount: string;
  readonly expiration: string;
  readonly nonce: string;
  readonly feeRateBps: string;
  readonly side: 0 | 1 | '0' | '1';
  readonly signatureType: number | string;
  readonly signature: string;
}

export interface SubmitBody {
  readonly order: OrderBody;
  readonly orderType?: OrderType;
  readonly selfTradePrevention?: SelfTradePrevention;
  readonly clientOrderId?: string;
  /** Epoch milliseconds. */
  readonly deadline?: number;
}

export const submitShape = createShape<SubmitBody>(
  Joi.object({
    order: orderSchema.required().description('The order and its signature.'),
    orderType: Joi.valid(...ORDER_TYPES).description('`GTC` when it is left out.'),
    selfTradePrevention: Joi.valid(...SELF_TRADE_PREVENTIONS).description(SELF_TRADE_TEXT),
    clientOrderId: Joi.string().pattern(CLIENT_ORDER_ID).description(CLIENT_ORDER_ID_TEXT),
    deadline: Joi.number().integer().min(0).description(DEADLINE_TEXT),
  }).required(),
);

/** Returns the EIP-55 spelling of an address; throws INVALID_ADDRESS when its mixed case contradicts it. */
export type Checksum = (address: string) => string;

/** The address of a member; the refusal names the member, as a refusal of its shape does. */
export function addressOf(path: string, address: string, checksum: Checksum): string {
  try {
    return checksum(address);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message } = error;
    throw new Refusal(code, `${path}: ${message}`, { errors: [{ path, message }] });
  }
}

export function signedOrderOf(body: OrderBody, checksum: Checksum): SignedOrder {
  return {
    salt: BigInt(body.salt),
    maker: addressOf('order.maker', body.maker, checksum),
    signer: addressOf('order.signer', body.signer, checksum),
    taker: addressOf('order.taker', body.taker, checksum),
    tokenId: BigInt(body.tokenId),
    makerAmount: BigInt(body.makerAmount),
    takerAmount: BigInt(body.takerAmount),
    expiration: BigInt(body.expiration),
    nonce: BigInt(body.nonce),
    feeRateBps: BigInt(body.feeRateBps),
    side: Number(body.side) === 1 ? 1 : 0,
    signatureType: Number(body.signatureType),
    signature: body.signature,
  };
}

/** Each order is checked by itself, so the bodies are checked one by one. */
export interface BatchBody {
  readonly orders: readonly unknown[];
}

export const batchShape = createShape<BatchBody>(
  Joi.object({ orders: Joi.array().items(Joi.any()).min(1).max(BATCH_ORDERS_MAX).required() }).required(),
);

export interface CancelBody {
  readonly orderHash: string;
}

export const cancelShape = createShape<CancelBody>(
  Joi.object({ orderHash: hashSchema.required().description('The order to cancel.') }).required(),
);

export interface CancelListBody {
  readonly orderHashes: readonly string[];
}

export const cancelListShape = createShape<CancelListBody>(
  Joi.object({
    orderHashes: Joi.array()
      .items(hashSchema)
      .min(1)
      .max(CANCEL_HASHES_MAX)
      .required()
      .description('The orders to cancel, in any markets.'),
  }).required(),
);

export interface CancelAllBody {
  readonly outcomeIndex?: OutcomeIndex;
  readonly side?: SideName;
}

export const cancelAllShape = createShape<CancelAllBody>(
  Joi.object({
    outcomeIndex: Joi.valid(0, 1).description('Only orders of this outcome: `0` is Yes, `1` is No.'),
    side: Joi.valid('BUY', 'SELL').description('Only orders of this side.'),
  }).required(),
);

/** Body of requests whose path says everything: none, or an empty object. */
export const emptyShape = createShape<Record<string, never>>(Joi.object({}).required());

/** POST /auth/logout. */
export interface LogoutBody {
  readonly everywhere?: boolean;
}

export const logoutShape = createShape<LogoutBody>(
  Joi.object({
    everywhere: Joi.boolean()
      .strict()
      .description(
        'True ends every session of the wallet; left out or false, that of the token. API keys stay.',
      ),
  }).required(),
);

export interface VerifyBody {
  readonly message: string;
  readonly signature: string;
}

export const verifyShape = createShape<VerifyBody>(
  Joi.object({
    message: Joi.string()
      .required()
      .description('The EIP-4361 message, character for character as it was signed.'),
    signature: Joi.string()
      .required()
      .description(
        'The `personal_sign` signature of the message: 65 bytes in hexadecimal, r, s and v. Of a contract wallet: what it accepts for the same digest (ERC-1271), at most 4,096 bytes, wrapped by ERC-6492 before it is deployed.',
      ),
  }).required(),
);

export interface RefreshBody {
  readonly refreshToken: string;
}

export const refreshShape = createShape<RefreshBody>(
  Joi.object({
    refreshToken: Joi.string().required().description('The latest refresh token. It works once.'),
  }).required(),
);

export interface ConvertBody {
  readonly size: string;
}

/** The shape does not check whether the exchange can hold the size. */
export const convertShape = createShape<ConvertBody>(
  Joi.object({
    size: Joi.string()
      .max(40)
      .pattern(/^(0|[1-9][0-9]*)(\.[0-9]+)?$/)
      .required()
      .description('The number of full sets, in shares: each is one Yes and one No.'),
  }).required(),
);
