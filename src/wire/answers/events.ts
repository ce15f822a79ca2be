import { ERRORS, type ErrorCode } from '../../exchange/errors';
import type { MarketTerms } from '../../exchange/market';
import type { Mode } from '../../exchange/status';
import { formatLots, formatPips, type Lots, type Pips } from '../../exchange/units';
import { formatPrice, iso } from '../prices';
import { ORDER_ENTRY } from '../requests/order-entry';

/** Every event of the socket interface, once. */
export const EVENTS = {
  subscribe: 'subscribe',
  unsubscribe: 'unsubscribe',
  renew: 'renew',
  ...ORDER_ENTRY,
  snapshot: 'orderbook:snapshot',
  update: 'orderbook:update',
  trade: 'trade:new',
  ticker: 'ticker:update',
  market: 'market:update',
  newMarket: 'market:new',
  heartbeat: 'heartbeat',
  ownOrder: 'order:update',
  ownTrade: 'trade:update',
  ownBalance: 'balance:update',
  resumed: 'account:resumed',
  exchange: 'exchange:update',
  epoch: 'epoch',
  sessionExpiring: 'session:expiring',
  sessionEnded: 'session:ended',
} as const;

export interface UpdateFacts {
  readonly previousSequence: number;
  readonly sequence: number;
  readonly timestampMs: number;
  readonly reason: 'ORDER' | 'TRADE' | 'CANCEL' | 'EXPIRE' | 'MARKET';
  readonly bestBid: Pips | null;
  readonly bestAsk: Pips | null;
  readonly checksum: string;
  /** Open lots now at each changed level, in Yes; 0 for a removed level. */
  readonly levels: readonly {
    readonly side: 'b' | 'a';
    readonly pricePips: Pips;
    readonly sizeLots: Lots;
  }[];
}

export type UpdateBody = ReturnType<typeof presentUpdate>;

/** `orderbook:update`: the book at `previousSequence` with these levels set is the book at `sequence`. */
export function presentUpdate(update: UpdateFacts, { id, conditionId }: MarketTerms) {
  const side = (wanted: 'b' | 'a'): [string, string][] =>
    update.levels
      .filter((level) => level.side === wanted)
      .map(({ pricePips, sizeLots }) => [formatPips(pricePips), formatLots(sizeLots)]);
  return {
    type: EVENTS.update,
    marketId: id,
    conditionId,
    sequence: update.sequence,
    previousSequence: update.previousSequence,
    timestamp: update.timestampMs,
    reason: update.reason,
    changes: { bids: side('b'), asks: side('a') },
    bestBid: formatPrice(update.bestBid),
    bestAsk: formatPrice(update.bestAsk),
    checksum: update.checksum,
  };
}

/** An event of a wallet, with its number and that of the event before it, on every replica. */
export const presentNumbered = <Body extends object>(body: Body, number: number, previous: number) => ({
  ...body,
  accountSequence: number,
  previousAccountSequence: previous,
});

/** `account:resumed`: the socket receives every event after this number; `resumed` when it is the client's own number. */
export const presentResumed = (accountSequence: number, resumed: boolean) => ({ accountSequence, resumed });

/** `heartbeat`: everything up to `sequence` was sent. */
export function presentHeartbeat(conditionId: string, sequence: number, timestamp: number) {
  return { conditionId, sequence, timestamp };
}

/** `exchange:update`: the mode of the exchange, and its operator's message. */
export function presentExchange({ mode, message }: { mode: Mode; message: string | null }, epoch: string) {
  return { mode, message, epoch };
}

/** `epoch`: answers given under another epoch may be missing. */
export function presentEpoch(epoch: string) {
  return { epoch };
}

/** `session:ended`: the reason why the server closes a private socket; `connect_error` has the same in `data`. */
export function presentSessionEnd(code: ErrorCode, detail: string = ERRORS[code].title) {
  return { code, detail };
}

/** `session:expiring`: the time at which the token ends, and the socket with it unless it is renewed. */
export const presentExpiring = (expiresAtMs: number) => ({ expiresAt: iso(expiresAtMs) });

/** The acknowledgement of `subscribe`, `unsubscribe` and `renew`. */
export const presentAck = {
  /** `epoch` is omitted while it is unknown. */
  subscribed: (markets: readonly { conditionId: string; sequence: number }[], epoch: string | null) => ({
    ok: true as const,
    subscribed: markets,
    ...(epoch === null ? {} : presentEpoch(epoch)),
  }),
  unsubscribed: (conditionIds: readonly string[]) => ({
    ok: true as const,
    unsubscribed: conditionIds.map((conditionId) => ({ conditionId })),
  }),
  /** The list of markets. */
  subscribedToMarkets: (epoch: string | null) => ({
    ok: true as const,
    subscribed: [],
    markets: true as const,
    ...(epoch === null ? {} : presentEpoch(epoch)),
  }),
  unsubscribedFromMarkets: () => ({ ok: true as const, unsubscribed: [], markets: true as const }),
  /** Null for an API key without an expiration. */
  renewed: (expiresAt: string | null) => ({ ok: true as const, expiresAt }),
  refused: (code: string, detail: string) => ({ ok: false as const, error: { code, detail } }),
};
