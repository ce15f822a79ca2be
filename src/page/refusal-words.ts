import { again, learnWords, ours, text } from './words';

/** The words for what the exchange refuses to a signed-in wallet, and the client's own codes. */
learnWords({
  BALANCE_LIMIT: () => 'That is more than an account here can hold. Take fewer shares.',
  INVALID_EXPIRATION: () => 'The order would end too soon or too late. Is the clock of this device right?',
  SELF_TRADE: () => 'Your own order stands in the way. Cancel it first.',
  DEADLINE_EXCEEDED: () =>
    'It took too long, so the order was not placed. Place it again if you still want it.',
  MARKET_NOT_OPEN: () => 'This market does not take orders now. Open orders can still be cancelled.',
  DUPLICATE_ORDER: () => 'The same order was placed before, with another type.',
  ORDER_EXPIRED: () => 'The order has expired. Is the clock of this device right?',
  ORDER_NOT_CANCELLABLE: () => 'The order can no longer be cancelled, because it is not open any more.',
  ORDER_NOT_FOUND: () => 'The exchange does not know this order.',
  INVALID_SIGNATURE: ({ hint, detail }) =>
    hint === 'CHAIN_ID'
      ? 'Your wallet signed for another network. Switch it to the network of this exchange and place the order again.'
      : /contract/.test(text(detail))
        ? 'Your wallet is a contract that did not accept the signature. Have its owners changed?'
        : 'The signature does not fit the order. Is the wallet still on the account you signed in with?',
  MAKER_MISMATCH: () =>
    'You are signed in with another wallet than the one that signed. Sign out and in again.',
  BACKLOG: () => `The exchange is catching up. Nothing was placed. ${again}`,
  OUTCOME_UNKNOWN: () =>
    'No answer came, so the order may or may not have been placed. Look at your orders before placing it again.',
  ABORTED: () => 'The request was given up. Look at your orders before you repeat it.',
  IDEMPOTENCY_KEY_REUSED: () => `This was asked for before, with other numbers. ${ours}`,
  INVALID_JSON: () => `The exchange did not understand the order. ${ours}`,
  INVALID_ADDRESS: () => 'The wallet returned an invalid address.',
  INVALID_TOKEN: () => `The order names another market. Reload the page. ${ours}`,
  INVALID_TAKER: () => `The order was made incorrectly. ${ours}`,
  INVALID_FEE_RATE: () => "The market's fee has changed. Reload the page and place the order again.",
  INVALID_NONCE_VALUE: () => 'Your earlier orders were invalidated meanwhile. Place the order again.',
  UNSUPPORTED_SIGNATURE_TYPE: () => 'This kind of wallet cannot trade here yet. Use an ordinary account.',
  INVALID_TIMEFRAME: () => `The exchange does not know this time frame. ${ours}`,
  INVALID_LIMIT: () => `The exchange did not accept this. ${ours}`,
  INVALID_CURSOR: () => 'The list has changed. Reload the page.',
  METHOD_NOT_ALLOWED: () => `The exchange did not accept this. ${ours}`,
  REQUEST_TIMEOUT: () => `The request did not arrive in time. ${again}`,
  UNSUPPORTED_MEDIA_TYPE: () => `The exchange did not accept this. ${ours}`,
});
