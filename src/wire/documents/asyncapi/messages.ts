import { ERRORS } from '../../../exchange/errors';
import { EVENTS } from '../../answers/events';
import { renewShape, subscribeShape, unsubscribeShape } from '../../requests/subscriptions';
import { MARKET, ORDERBOOK, TICKER, TRADE } from '../openapi/examples/market';
import { BALANCES, ORDER } from '../openapi/examples/orders';
import { CONDITION_ID, MARKET_ID, MATCHED_AT, MATCHED_MS, MODE, SEQUENCE } from '../openapi/examples/story';
import { OWN_TRADE } from '../openapi/examples/traders';
import {
  array,
  constant,
  flag,
  type Json,
  jsonSchemaOf,
  nullable,
  object,
  ref,
  text,
} from '../openapi/schema';
import type { Message } from './message';
import { ORDER_MESSAGES } from './order-messages';

const refused = object({ ok: constant(false), error: ref('Refused') });
const epoch = text(undefined, { pattern: '^[0-9a-f]{16}$' });
const EPOCH = '9f2b11c07d3e4a58';
const subscribed = object(
  {
    ok: constant(true),
    subscribed: array(object({ conditionId: ref('Hash'), sequence: ref('Sequence') })),
    markets: constant(true),
    epoch,
  },
  ['epoch', 'markets'],
);
const unsubscribed = object(
  {
    ok: constant(true),
    unsubscribed: array(object({ conditionId: ref('Hash') })),
    markets: constant(true),
  },
  ['markets'],
);
/** The numbers of the examples: the second event after the first one. */
const FIRST_NUMBER = MATCHED_MS * 1_000;
const numbered = (n: number) => ({
  accountSequence: FIRST_NUMBER + n,
  previousAccountSequence: FIRST_NUMBER + n - 1,
});

/** Besides an object: a bare condition id. */
const orBare = (schema: Json): Json => ({
  anyOf: [text('One condition id.', { pattern: '^0x[0-9a-fA-F]{64}$' }), schema],
});

/** Every message of the socket interface; a test checks that each of EVENTS is here. */
export const MESSAGES = {
  subscribe: {
    kind: 'in',
    event: EVENTS.subscribe,
    title: 'Follow markets',
    summary:
      'At most 50 markets in one message and 1,000 per socket; each market counts as one of the 50 messages a second. A socket that already follows the market does not receive the same snapshot again. With `lastSequence` and a single market, the socket receives the updates since then instead of a snapshot, while the replay window (at least 1,000 updates) contains them. Send the `epoch` of the last acknowledgement with it: if the epoch has changed, the same number may mean another book, and the socket receives a snapshot. `{ "markets": true }` follows the list of markets: `market:new`, and `market:update` of every market.',
    payload: orBare(jsonSchemaOf(subscribeShape)),
    example: { conditionId: CONDITION_ID, lastSequence: SEQUENCE - 1, epoch: EPOCH },
  },
  subscribeAck: {
    kind: 'ack',
    event: EVENTS.subscribe,
    title: 'Markets followed',
    summary:
      'The sequence of each market after the messages that follow the acknowledgement, and the epoch of these sequences, which is omitted while it is unknown; or the refusal.',
    payload: { oneOf: [subscribed, refused] },
    example: { ok: true, subscribed: [{ conditionId: CONDITION_ID, sequence: SEQUENCE }], epoch: EPOCH },
  },
  unsubscribe: {
    kind: 'in',
    event: EVENTS.unsubscribe,
    title: 'Stop following markets',
    summary: 'Naming a market that the socket does not follow is no error.',
    payload: orBare(jsonSchemaOf(unsubscribeShape)),
    example: { conditionIds: [CONDITION_ID] },
  },
  unsubscribeAck: {
    kind: 'ack',
    event: EVENTS.unsubscribe,
    title: 'Markets no longer followed',
    summary: 'The markets of the request; or the refusal.',
    payload: { oneOf: [unsubscribed, refused] },
    example: { ok: true, unsubscribed: [{ conditionId: CONDITION_ID }] },
  },
  renew: {
    kind: 'in',
    event: EVENTS.renew,
    title: 'Keep a private socket beyond its token',
    summary:
      'Sends another access token or API key of the same wallet. From then on the socket stays open until that one expires, without an interruption. A refusal leaves the socket as it was.',
    payload: jsonSchemaOf(renewShape),
    example: { token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIweCJ9.c2lnbmF0dXJl' },
  },
  renewAck: {
    kind: 'ack',
    event: EVENTS.renew,
    title: 'Renewed',
    summary: 'The new end of the socket, null for an API key without an expiry; or the refusal.',
    payload: { oneOf: [object({ ok: constant(true), expiresAt: nullable(ref('Time')) }), refused] },
    example: { ok: true, expiresAt: MATCHED_AT },
  },
  ...ORDER_MESSAGES,
  snapshot: {
    kind: 'market',
    event: EVENTS.snapshot,
    title: 'The whole book',
    summary:
      'Sent after a subscription, and whenever the book of the client may be wrong. Replace the book with it; the updates that follow continue from it.',
    payload: ref('Orderbook'),
    example: ORDERBOOK,
  },
  update: {
    kind: 'market',
    event: EVENTS.update,
    title: 'Changed levels of the book',
    summary:
      'Sizes are absolute sizes of Yes; `"0"` removes the level. Apply the update when `previousSequence <= local < sequence`, ignore it when `sequence <= local`, and subscribe again otherwise. At most one per market every `BROADCAST_INTERVAL_MS`.',
    payload: ref('BookUpdate'),
    example: {
      type: EVENTS.update,
      marketId: MARKET_ID,
      conditionId: CONDITION_ID,
      sequence: SEQUENCE,
      previousSequence: SEQUENCE - 1,
      timestamp: MATCHED_MS,
      reason: 'TRADE',
      changes: { bids: [['0.62', '60']], asks: [['0.6', '0']] },
      bestBid: '0.62',
      bestAsk: '0.64',
      checksum: ORDERBOOK.checksum,
    },
  },
  trade: {
    kind: 'market',
    event: EVENTS.trade,
    title: 'A trade',
    summary: 'Sent after the update that contains the trade, before the trade is settled.',
    payload: ref('Trade'),
    example: { ...TRADE, settlementStatus: 'MATCHED' },
  },
  ticker: {
    kind: 'market',
    event: EVENTS.ticker,
    title: 'Best prices, last price and daily change',
    summary: 'Sent when one of them has changed, at most every 250 ms for each market.',
    payload: ref('Ticker'),
    example: TICKER,
  },
  market: {
    kind: 'market',
    event: EVENTS.market,
    title: 'The market has changed',
    summary: 'Sent when the status, the texts or the resolution of the market have changed.',
    payload: ref('Market'),
    example: { ...MARKET, status: 'PAUSED' },
  },
  newMarket: {
    kind: 'market',
    event: EVENTS.newMarket,
    title: 'A new market',
    summary:
      'Sent to sockets that have subscribed to `{ "markets": true }` when a market is created, or a draft is opened. They receive every `market:update`, too; read `GET /markets` after a reconnect.',
    payload: ref('Market'),
    example: MARKET,
  },
  heartbeat: {
    kind: 'market',
    event: EVENTS.heartbeat,
    title: 'All updates up to this sequence have been sent',
    summary:
      'Sent every 5 s for each followed market, so that a client notices a broken connection in a quiet market.',
    payload: ref('Heartbeat'),
    example: { conditionId: CONDITION_ID, sequence: SEQUENCE, timestamp: MATCHED_MS },
  },
  exchange: {
    kind: 'market',
    event: EVENTS.exchange,
    title: 'What the exchange takes at the moment',
    summary:
      'To every socket, on connecting and when the mode, its message or the epoch has changed. `CANCEL_ONLY` refuses orders, `HALTED` refuses cancels as well; `message` is what the operator says about it, or with funds on a chain why the exchange refuses orders by itself. The same members are in `GET /config`.',
    payload: object({ mode: ref('Mode'), message: nullable(text()), epoch }),
    example: { ...MODE, epoch: EPOCH },
  },
  epoch: {
    kind: 'market',
    event: EVENTS.epoch,
    title: 'Acknowledged writes may be lost',
    summary:
      'Redis failed over or lost its latest writes, so acknowledged writes may be missing. The exchange sends every followed book again; look up your orders, and send the signed ones that are missing again. `GET /readyz`, `GET /config` and the header `X-Epoch` return the same epoch.',
    payload: object({ epoch }),
    example: { epoch: EPOCH },
  },
  ownOrder: {
    kind: 'wallet',
    event: EVENTS.ownOrder,
    title: 'The current state of an order of the wallet',
    summary:
      'The body of `GET /orders/{order_hash}`, except that `fills` has only the fills that are new, or whose settlement has changed, since the last update: the latest 100 of them. Changes within 20 ms come in one message.',
    payload: ref('OwnOrder'),
    example: { ...ORDER, ...numbered(1) },
  },
  ownTrade: {
    kind: 'wallet',
    event: EVENTS.ownTrade,
    title: 'A trade of the wallet',
    summary:
      'The line of `GET /me/trades`, with `settlementStatus` as of the match. Sent once for each role of the wallet, so twice when it traded with itself.',
    payload: ref('OwnTrade'),
    example: { ...OWN_TRADE, settlementStatus: 'MATCHED', ...numbered(2) },
  },
  ownBalance: {
    kind: 'wallet',
    event: EVENTS.ownBalance,
    title: 'The balances of the wallet',
    summary: 'The body of `GET /me/balances`.',
    payload: ref('OwnBalance'),
    example: { ...BALANCES, ...numbered(3) },
  },
  resumed: {
    kind: 'wallet',
    event: EVENTS.resumed,
    title: 'Where the private events begin',
    summary:
      'The first message of a socket whose handshake has `lastAccountSequence`. `resumed` is true when everything since that number follows; false when there was none, or the log of the wallet does not reach back to it (it keeps at least the latest 1,000 events, for an hour after the last private socket): then read the orders and balances. The next event has a `previousAccountSequence` of at most `accountSequence`.',
    payload: object({ accountSequence: ref('AccountSequence'), resumed: flag() }),
    example: { accountSequence: FIRST_NUMBER, resumed: true },
  },
  sessionExpiring: {
    kind: 'wallet',
    event: EVENTS.sessionExpiring,
    title: 'The token of this socket is about to expire',
    summary:
      'Sent 60 s before the token expires, or at once when it expires sooner. Send `renew` with another token to keep the socket.',
    payload: object({ expiresAt: ref('Time') }),
    example: { expiresAt: MATCHED_AT },
  },
  sessionEnded: {
    kind: 'wallet',
    event: EVENTS.sessionEnded,
    title: 'The session has ended',
    summary:
      'The last message of a private socket whose token has expired or whose session was closed; the exchange then disconnects it. Sign in or refresh before connecting again.',
    payload: ref('Refused'),
    example: { code: 'TOKEN_EXPIRED', detail: ERRORS.TOKEN_EXPIRED.title },
  },
} as const satisfies Readonly<Record<string, Message>>;
