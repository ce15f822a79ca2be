import type { MarketId } from '../exchange/market';
import type { UpdateBody } from '../wire/answers/events';
import type { presentMarket, presentTicker } from '../wire/answers/market';
import type { presentTrade } from '../wire/answers/trade';

/**
 * A message of the broadcasting process to the other replicas about a market, in the order in which clients receive it.
 */
export type FeedMessage =
  | {
      readonly kind: 'update';
      readonly marketId: MarketId;
      readonly update: UpdateBody;
      readonly trades: readonly ReturnType<typeof presentTrade>[];
      /** When the market itself changed. */
      readonly market: ReturnType<typeof presentMarket> | null;
    }
  | {
      readonly kind: 'ticker';
      readonly marketId: MarketId;
      readonly ticker: ReturnType<typeof presentTicker>;
    }
  /** The clients' book of this market may be wrong, so they need a snapshot. */
  | { readonly kind: 'reset'; readonly marketId: MarketId };

/** How many sockets a replica has of the addresses that have many: all of them, or those that changed. */
export interface PlacesTold {
  readonly process: string;
  readonly whole: boolean;
  readonly counts: readonly (readonly [address: string, count: number])[];
}

/** Events between the replicas, through the adapter. */
export const BETWEEN = {
  /** FeedMessage[]. */
  feed: 'feed',
  /** Messages may have been lost with the process that sent them: look into the logs. */
  catchUp: 'catch-up',
  /** The lease is free. */
  leaseFree: 'lease-free',
  /** Session id, code: its sockets end. */
  sessionOver: 'session-over',
  /** PlacesTold. */
  places: 'places',
} as const;

export interface BetweenEvents {
  [BETWEEN.feed]: (messages: readonly FeedMessage[]) => void;
  [BETWEEN.catchUp]: () => void;
  [BETWEEN.leaseFree]: () => void;
  [BETWEEN.sessionOver]: (sid: string) => void;
  [BETWEEN.places]: (told: PlacesTold) => void;
}
