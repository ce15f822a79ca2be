import type { Client } from './client';
import type { Live } from './live';
import type { Signer } from './sessions';

/** The structures of ccxt, as in its manual; `info` is the original answer. */
export type Num = number | undefined;
export type Str = string | undefined;

export interface MinMax {
  readonly min: Num;
  readonly max: Num;
}

export interface CcxtFee {
  readonly currency: Str;
  readonly cost: Num;
}

export interface CcxtMarket {
  readonly id: string;
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly baseId: string;
  readonly quoteId: string;
  readonly active: boolean;
  readonly type: 'spot';
  readonly spot: true;
  readonly margin: false;
  readonly swap: false;
  readonly future: false;
  readonly option: false;
  readonly contract: false;
  readonly settle: Str;
  readonly settleId: Str;
  readonly contractSize: Num;
  readonly linear: undefined;
  readonly inverse: undefined;
  readonly expiry: Num;
  readonly expiryDatetime: Str;
  readonly strike: Num;
  readonly optionType: Str;
  readonly taker: number;
  readonly maker: number;
  readonly percentage: true;
  readonly tierBased: false;
  readonly feeSide: 'get';
  readonly precision: { readonly amount: number; readonly price: number };
  readonly limits: {
    readonly amount: MinMax;
    readonly price: MinMax;
    readonly cost: MinMax;
    readonly leverage: MinMax;
  };
  readonly created: number;
  readonly info: unknown;
}

export interface CcxtTicker {
  readonly symbol: string;
  readonly timestamp: number;
  readonly datetime: string;
  readonly high: Num;
  readonly low: Num;
  readonly bid: Num;
  readonly bidVolume: Num;
  readonly ask: Num;
  readonly askVolume: Num;
  readonly vwap: Num;
  readonly open: Num;
  readonly close: Num;
  readonly last: Num;
  readonly previousClose: Num;
  readonly change: Num;
  readonly percentage: Num;
  readonly average: Num;
  readonly baseVolume: Num;
  readonly quoteVolume: Num;
  readonly indexPrice: Num;
  readonly markPrice: Num;
  readonly info: unknown;
}

export interface CcxtOrderBook {
  readonly symbol: string;
  readonly bids: [number, number][];
  readonly asks: [number, number][];
  readonly timestamp: Num;
  readonly datetime: Str;
  readonly nonce: number;
}

export interface CcxtTrade {
  readonly id: string;
  readonly order: Str;
  readonly timestamp: number;
  readonly datetime: string;
  readonly symbol: string;
  readonly type: Str;
  readonly side: 'buy' | 'sell';
  readonly takerOrMaker: 'taker' | 'maker';
  readonly price: number;
  readonly amount: number;
  readonly cost: number;
  readonly fee: CcxtFee | undefined;
  readonly fees: CcxtFee[];
  readonly info: unknown;
}

/** Epoch milliseconds, open, high, low, close, shares. */
export type CcxtCandle = [number, number, number, number, number, number];

export interface CcxtOrder {
  readonly id: string;
  readonly clientOrderId: Str;
  readonly timestamp: number;
  readonly datetime: string;
  readonly lastTradeTimestamp: Num;
  readonly lastUpdateTimestamp: Num;
  readonly symbol: string;
  readonly type: 'limit' | 'market';
  readonly timeInForce: 'GTC' | 'IOC' | 'FOK' | 'PO';
  readonly postOnly: boolean;
  readonly reduceOnly: false;
  readonly side: 'buy' | 'sell';
  readonly price: number;
  readonly stopPrice: Num;
  readonly triggerPrice: Num;
  readonly average: Num;
  readonly amount: number;
  readonly filled: number;
  readonly remaining: number;
  readonly cost: number;
  readonly status: 'open' | 'closed' | 'canceled' | 'expired';
  readonly fee: CcxtFee | undefined;
  readonly trades: CcxtTrade[];
  readonly info: unknown;
}

export interface CcxtBalance {
  readonly free: Num;
  readonly used: Num;
  readonly total: Num;
}

export type CcxtBalances = {
  readonly info: unknown;
  readonly free: Readonly<Record<string, number>>;
  readonly used: Readonly<Record<string, number>>;
  readonly total: Readonly<Record<string, number>>;
} & Readonly<Record<string, CcxtBalance | unknown>>;

export interface CcxtOptions {
  readonly client: Client;
  /** For the `watch` methods. */
  readonly live?: Live | undefined;
  /** For `createOrder`. */
  readonly signer?: Signer | undefined;
}

export interface OrderParams {
  readonly clientOrderId?: string;
  readonly postOnly?: boolean;
  readonly timeInForce?: 'GTC' | 'IOC' | 'FOK' | 'PO';
  readonly selfTradePrevention?: 'NONE' | 'CANCEL_TAKER' | 'CANCEL_MAKER' | 'CANCEL_BOTH';
  /** For a market buy: the collateral to spend. */
  readonly cost?: number;
}
