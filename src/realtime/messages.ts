import type { MarketId, MarketTerms } from '../exchange/market';
import type { Grown } from '../store/outbox/account-log';
import type { BookUpdate } from '../store/outbox/book-update';
import type { Reads } from '../store/reads/reads';
import type { Fill } from '../store/records/order';
import { tradeId } from '../store/records/order-views';
import { presentUpdate, type UpdateBody } from '../wire/answers/events';
import { presentMarket, type presentTicker } from '../wire/answers/market';
import { presentTrade } from '../wire/answers/trade';

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

export type UpdateMessage = FeedMessage & { readonly kind: 'update' };

/** A change of a market itself, for the followers of the list of markets. */
export interface ListedChange {
  readonly market: ReturnType<typeof presentMarket>;
  /** The market was created. */
  readonly isFirst: boolean;
}

export const listedChanges = (messages: readonly FeedMessage[]): ListedChange[] =>
  messages.flatMap((message) =>
    message.kind === 'update' && message.market
      ? { market: message.market, isFirst: message.update.previousSequence === 0 }
      : [],
  );

/** The message to clients about an update; the same for a new update and for one from the log. */
export async function updateMessage(
  reads: Pick<Reads, 'view'>,
  terms: MarketTerms,
  update: BookUpdate,
  fills: readonly Fill[],
): Promise<UpdateMessage> {
  return {
    kind: 'update',
    marketId: terms.id,
    update: presentUpdate(update, terms),
    trades: fills.map((fill) => presentTrade({ ...fill, id: tradeId(terms.id, fill) }, terms)),
    market: update.marketChanged ? presentMarket(await reads.view(terms.id)) : null,
  };
}

/** The number of sockets that a replica has of each address with many: all of them, or those that changed. */
export interface PlaceCounts {
  readonly process: string;
  readonly whole: boolean;
  readonly counts: readonly (readonly [address: string, count: number])[];
}

/** Events between the replicas, sent through the adapter. */
export const BETWEEN = {
  /** The room of a market, and FeedMessage[] of it. */
  feed: 'feed',
  /** ListedChange[]: rare, so every replica receives them. */
  listed: 'listed',
  /** Messages may have been lost with the process that sent them: read the logs. */
  catchUp: 'catch-up',
  /** The lease is free. */
  leaseFree: 'lease-free',
  /** Session id and code: the sockets of the session end. */
  sessionOver: 'session-over',
  /** PlaceCounts. */
  places: 'places',
  /** The room of a wallet, and Grown: its log has grown. */
  account: 'account',
  /** Another process has changed the mode: read it now. */
  mode: 'mode',
} as const;

/** Their first member is a room: only replicas with sockets in it receive them. */
export const TO_ROOM: ReadonlySet<unknown> = new Set([BETWEEN.feed, BETWEEN.account]);

export interface BetweenEvents {
  [BETWEEN.feed]: (room: string, messages: readonly FeedMessage[]) => void;
  [BETWEEN.listed]: (changes: readonly ListedChange[]) => void;
  [BETWEEN.catchUp]: () => void;
  [BETWEEN.leaseFree]: () => void;
  [BETWEEN.sessionOver]: (sid: string) => void;
  [BETWEEN.places]: (counts: PlaceCounts) => void;
  [BETWEEN.account]: (room: string, grown: Grown) => void;
  [BETWEEN.mode]: () => void;
}
