import type { Decimal, ExchangeConfig } from './types';
import type { Order, OwnTrade } from './types-account';
import type { Balances } from './types-balances';

/** Messages of the socket, as received. */

export interface BookUpdate {
  readonly type: 'orderbook:update';
  readonly marketId: string;
  readonly conditionId: string;
  readonly sequence: number;
  readonly previousSequence: number;
  readonly timestamp: number;
  readonly reason: 'ORDER' | 'TRADE' | 'CANCEL' | 'EXPIRE' | 'MARKET';
  /** Price and the present size at it, in Yes; "0" removes the level. */
  readonly changes: {
    readonly bids: readonly (readonly [Decimal, Decimal])[];
    readonly asks: readonly (readonly [Decimal, Decimal])[];
  };
  readonly bestBid: Decimal | null;
  readonly bestAsk: Decimal | null;
  readonly checksum: string;
}

/** The place of an event among the events of its wallet. */
export interface AccountNumbers {
  readonly accountSequence: number;
  readonly previousAccountSequence: number;
}

/** A trade as the exchange reports it to one of its two wallets. */
export type TradeUpdate = OwnTrade & AccountNumbers;

export type OrderUpdate = Order & AccountNumbers;
export type BalanceUpdate = Balances & AccountNumbers;

/** The beginning of the private events of a connection; `resumed` when no event since the connection before is missing. */
export interface AccountResumed {
  readonly accountSequence: number;
  readonly resumed: boolean;
}

/** The mode of the exchange: `CANCEL_ONLY` refuses orders, `HALTED` refuses cancels as well. */
export type ExchangeState = Pick<ExchangeConfig, 'mode' | 'message' | 'epoch'>;

/** The history of the data has a new name: earlier acknowledged writes may be missing. */
export interface EpochChange {
  readonly epoch: string;
}

export interface Heartbeat {
  readonly conditionId: string;
  readonly sequence: number;
  readonly timestamp: number;
}

export type SubscribeAck =
  | {
      readonly ok: true;
      readonly subscribed: readonly { readonly conditionId: string; readonly sequence: number }[];
      /** The epoch of the following updates; missing while the exchange does not know it. */
      readonly epoch?: string;
    }
  | { readonly ok: false; readonly error: { readonly code: string; readonly detail: string } };

/** The reason why the exchange closes a wallet's socket. */
export interface SessionEnd {
  readonly code: string;
  readonly detail: string;
}

/** The expiration of a socket's token. */
export interface SessionExpiring {
  readonly expiresAt: string;
}
