import type { Decimal, ExchangeConfig, Trade } from './types';
import type { Balances, Order } from './types-account';

/** Messages of the socket, as they come. */

export interface BookUpdate {
  readonly type: 'orderbook:update';
  readonly marketId: string;
  readonly conditionId: string;
  readonly sequence: number;
  readonly previousSequence: number;
  readonly timestamp: number;
  readonly reason: 'ORDER' | 'TRADE' | 'CANCEL' | 'EXPIRE' | 'MARKET';
  /** Price and the size there now, in Yes; "0" removes. */
  readonly changes: {
    readonly bids: readonly (readonly [Decimal, Decimal])[];
    readonly asks: readonly (readonly [Decimal, Decimal])[];
  };
  readonly bestBid: Decimal | null;
  readonly bestAsk: Decimal | null;
  readonly checksum: string;
}

/** Where an event stands among those of its wallet. */
export interface AccountNumbers {
  readonly accountSequence: number;
  readonly previousAccountSequence: number;
}

/** A trade as the exchange reports it to one of its two wallets. */
export interface TradeUpdate extends Trade, AccountNumbers {
  readonly role: 'MAKER' | 'TAKER';
}

export type OrderUpdate = Order & AccountNumbers;
export type BalanceUpdate = Balances & AccountNumbers;

/** Where the private events of a connection begin; `resumed` when nothing since the connection before is missing. */
export interface AccountResumed {
  readonly accountSequence: number;
  readonly resumed: boolean;
}

/** The mode of the exchange: `CANCEL_ONLY` refuses orders, `HALTED` refuses cancels as well. */
export type ExchangeState = Pick<ExchangeConfig, 'mode' | 'message' | 'epoch'>;

/** The history of the data has another name: what was answered before may be missing. */
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

/** Why the exchange ends a socket that spoke for a wallet. */
export interface SessionEnd {
  readonly code: string;
  readonly detail: string;
}

/** When the token of a socket ends. */
export interface SessionExpiring {
  readonly expiresAt: string;
}
