/** The names of ccxt's errors, by the codes of the exchange; users of ccxt catch errors by name. */
const NAMES: Readonly<Record<string, string>> = {
  NETWORK: 'NetworkError',
  TIMEOUT: 'RequestTimeout',
  NOT_SIGNED_IN: 'AuthenticationError',
  UNAUTHORIZED: 'AuthenticationError',
  TOKEN_INVALID: 'AuthenticationError',
  TOKEN_EXPIRED: 'AuthenticationError',
  FORBIDDEN: 'PermissionDenied',
  INSUFFICIENT_BALANCE: 'InsufficientFunds',
  ORDER_NOT_FOUND: 'OrderNotFound',
  ORDER_NOT_CANCELLABLE: 'InvalidOrder',
  POST_ONLY_WOULD_CROSS: 'OrderImmediatelyFillable',
  FOK_NOT_FILLED: 'OrderNotFillable',
  DUPLICATE_ORDER: 'DuplicateOrderId',
  INVALID_TICK: 'InvalidOrder',
  INVALID_LOT: 'InvalidOrder',
  SIZE_OUT_OF_RANGE: 'InvalidOrder',
  PRICE_OUT_OF_RANGE: 'InvalidOrder',
  DEADLINE_EXCEEDED: 'InvalidOrder',
  SELF_TRADE: 'InvalidOrder',
  MARKET_NOT_FOUND: 'BadSymbol',
  MARKET_NOT_OPEN: 'MarketClosed',
  RATE_LIMITED: 'RateLimitExceeded',
  UNAVAILABLE: 'ExchangeNotAvailable',
  BACKLOG: 'ExchangeNotAvailable',
  HALTED: 'OnMaintenance',
  CANCEL_ONLY: 'OnMaintenance',
  INVALID_REQUEST: 'BadRequest',
};

/** The client's error under ccxt's name; `cause` is the client's own. */
export function ccxtError(error: unknown): unknown {
  if (error instanceof RangeError) return named('InvalidOrder', error.message, error);
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code !== 'string') return error;
  return named(NAMES[code] ?? 'ExchangeError', (error as Error).message, error);
}

export function named(name: string, message: string, cause?: unknown): Error {
  const error = new Error(message, { cause });
  error.name = name;
  return error;
}
