/**
 * Every refusal that the exchange can return: one table of code -> HTTP status -> title.
 * `retryable` means that the request itself is right: well formed, authorized, and about things that exist and are not over.
 * The very same request can succeed later, when the exchange, the market or the wallet is in another state. A MARKET_NOT_OPEN says
 * so itself, because a market that has ended does not open again.
 * docs/use/errors.md explains every code, and a test compares it with this table. The OpenAPI document is made from it.
 */
export const ERRORS = {
  INVALID_REQUEST: { status: 400, title: 'The request is malformed' },
  INVALID_JSON: { status: 400, title: 'The body is not valid JSON' },
  INVALID_ADDRESS: { status: 400, title: 'The address is not valid' },
  INVALID_SIGNATURE: { status: 400, title: 'The signature does not match the order' },
  INVALID_TICK: { status: 400, title: 'The price is not a multiple of the tick' },
  INVALID_LOT: { status: 400, title: 'The size is not a multiple of the lot' },
  PRICE_OUT_OF_RANGE: { status: 400, title: 'The price is outside (0, 1)' },
  SIZE_OUT_OF_RANGE: { status: 400, title: 'The size is out of range' },
  ORDER_EXPIRED: { status: 400, title: 'The order has expired' },
  INVALID_EXPIRATION: { status: 400, title: 'The expiration is too near or too far ahead' },
  INVALID_TOKEN: { status: 400, title: 'The token does not belong to this market' },
  INVALID_TAKER: { status: 400, title: 'The taker must be the zero address' },
  INVALID_FEE_RATE: { status: 400, title: "The fee rate does not match the market's" },
  INVALID_NONCE_VALUE: { status: 400, title: "The nonce does not match the maker's current nonce" },
  UNSUPPORTED_SIGNATURE_TYPE: { status: 400, title: 'The signature type is not supported' },
  INVALID_TIMEFRAME: { status: 400, title: 'The timeframe is unknown' },
  INVALID_LIMIT: { status: 400, title: 'The limit is not a whole number of at least 1' },
  INVALID_CURSOR: { status: 400, title: 'The cursor is not valid' },
  UNAUTHORIZED: { status: 401, title: 'A bearer token is required' },
  TOKEN_INVALID: { status: 401, title: 'The token is not valid' },
  TOKEN_EXPIRED: { status: 401, title: 'The token has expired' },
  SIWE_INVALID: { status: 401, title: 'The sign-in message was refused' },
  NONCE_INVALID: { status: 401, title: 'The sign-in nonce is unknown, used or expired' },
  REFRESH_REUSED: { status: 401, title: 'The refresh token was used before; the session is revoked' },
  MAKER_MISMATCH: { status: 403, title: 'The order belongs to another wallet' },
  FORBIDDEN: { status: 403, title: 'The caller is not allowed to do this' },
  WALLET_SUSPENDED: { status: 403, title: 'The wallet is suspended', retryable: true },
  MARKET_NOT_FOUND: { status: 404, title: 'The market does not exist' },
  EVENT_NOT_FOUND: { status: 404, title: 'The event does not exist' },
  ORDER_NOT_FOUND: { status: 404, title: 'The order does not exist' },
  COMMENT_NOT_FOUND: { status: 404, title: 'The comment does not exist' },
  NOT_FOUND: { status: 404, title: 'The resource does not exist' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The resource does not support this method' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request did not arrive in time', retryable: true },
  DUPLICATE_ORDER: { status: 409, title: 'The order was submitted before with another order type' },
  ORDER_NOT_CANCELLABLE: { status: 409, title: 'The order is final' },
  MARKET_NOT_OPEN: { status: 409, title: 'The market is not open' },
  ON_CHAIN: { status: 409, title: 'The wallet does this itself, on the chain' },
  USERNAME_TAKEN: { status: 409, title: 'The username is taken', retryable: true },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body must be application/json' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The Idempotency-Key belongs to another request' },
  FOK_NOT_FILLED: { status: 422, title: 'The order cannot be filled completely', retryable: true },
  POST_ONLY_WOULD_CROSS: { status: 422, title: 'The order would trade at once', retryable: true },
  INSUFFICIENT_BALANCE: { status: 422, title: 'The balance is too small', retryable: true },
  BALANCE_LIMIT: { status: 422, title: 'An account or a market would exceed its limit', retryable: true },
  INSUFFICIENT_ALLOWANCE: { status: 422, title: 'The allowance does not cover the order', retryable: true },
  UNSETTLED_LIMIT: {
    status: 422,
    title: 'The wallet has too much that waits for the chain',
    retryable: true,
  },
  SELF_TRADE: { status: 422, title: "The order would meet the wallet's own order", retryable: true },
  DEADLINE_EXCEEDED: { status: 422, title: 'The deadline passed before the order was booked' },
  RATE_LIMITED: { status: 429, title: 'Too many requests', retryable: true },
  INTERNAL: { status: 500, title: 'The exchange failed', retryable: true },
  UNAVAILABLE: { status: 503, title: 'The exchange cannot answer right now', retryable: true },
  CANCEL_ONLY: { status: 503, title: 'The exchange accepts cancels only', retryable: true },
  HALTED: { status: 503, title: 'The exchange is halted', retryable: true },
  BACKLOG: { status: 503, title: 'The exchange is catching up', retryable: true },
} as const satisfies Record<string, { status: number; title: string; retryable?: true }>;

export type ErrorCode = keyof typeof ERRORS;

/** The mistake that explains why a signature does not recover to the signer. */
export const HINTS = [
  'CHAIN_ID',
  'VERIFYING_CONTRACT',
  'DOMAIN_NAME',
  'VERSION',
  'MEMBER_ORDER',
  'DOMAIN_TYPE',
  'PERSONAL_SIGN',
  'SIGNER',
] as const;
export type Hint = (typeof HINTS)[number];

/** An expected refusal, sent to the caller as problem+json. Any other error is a bug. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  /** More members of the problem document, in wire form (`required`, `nearest`, `errors`, ...). */
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, detail?: string, extra: Readonly<Record<string, unknown>> = {}) {
    super(detail ?? ERRORS[code].title);
    this.name = 'Refusal';
    this.code = code;
    this.extra = extra;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}
