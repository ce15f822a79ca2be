import type { BookLevel, BookSides } from './book';
import type {
  CcxtBalance,
  CcxtBalances,
  CcxtFee,
  CcxtMarket,
  CcxtOrder,
  CcxtOrderBook,
  CcxtTicker,
  CcxtTrade,
  Num,
} from './ccxt-types';
import type { Market, OutcomeIndex, Side, Ticker, Trade } from './types';
import type { Order, OwnTrade } from './types-account';
import type { Balances } from './types-balances';

/** Converts bodies of the exchange to ccxt's structures: numbers instead of decimal strings, `undefined` instead of null. */
export const QUOTE = 'USD';
const ONE = 1;
const PIPS = 10_000;
const BPS = 10_000;
const OUTCOME_NAMES = ['YES', 'NO'] as const;

/** An outcome of a market, which is what ccxt calls a market. */
export interface Listed {
  readonly market: Market;
  readonly outcome: OutcomeIndex;
}

export const baseOf = ({ market, outcome }: Listed): string => `${market.slug}.${OUTCOME_NAMES[outcome]}`;
export const symbolOf = (listed: Listed): string => `${baseOf(listed)}/${QUOTE}`;

const num = (text: string | null | undefined): Num => (text == null ? undefined : Number(text));
/** 1 minus the price, without rounding errors of binary fractions. */
const left = (price: number): number => Math.round((ONE - price) * PIPS) / PIPS;
const times = (a: number, b: number): number => Number((a * b).toFixed(6));
const sideOf = (side: Side): 'buy' | 'sell' => (side === 'BUY' ? 'buy' : 'sell');

export function marketOf(listed: Listed): CcxtMarket {
  const { market, outcome } = listed;
  const [base, fee] = [baseOf(listed), market.feeRateBps / BPS];
  const tick = Number(market.tickSize);
  const none = { min: undefined, max: undefined };
  return {
    id: `${market.id}-${outcome}`,
    symbol: symbolOf(listed),
    ...{ base, quote: QUOTE, baseId: market.outcomes[outcome]?.tokenId ?? base, quoteId: QUOTE },
    active: market.status === 'OPEN',
    ...{ type: 'spot', spot: true, margin: false, swap: false, future: false, option: false },
    ...{ contract: false, settle: undefined, settleId: undefined, contractSize: undefined },
    ...{ linear: undefined, inverse: undefined, strike: undefined, optionType: undefined },
    expiry: market.closesAt === null ? undefined : Date.parse(market.closesAt),
    expiryDatetime: market.closesAt ?? undefined,
    ...{ taker: fee, maker: fee, percentage: true, tierBased: false, feeSide: 'get' },
    precision: { amount: Number(market.lotSize), price: tick },
    limits: {
      amount: { min: Number(market.minOrderSize), max: undefined },
      price: { min: tick, max: left(tick) },
      cost: none,
      leverage: none,
    },
    created: Date.parse(market.createdAt),
    info: market,
  };
}

export function tickerOf(listed: Listed, ticker: Ticker): CcxtTicker {
  const own = ticker.outcomes[listed.outcome];
  const last = num(own?.lastTradePrice);
  const change = num(own?.priceChange24h);
  const open = last === undefined || change === undefined ? undefined : Number((last - change).toFixed(4));
  return {
    symbol: symbolOf(listed),
    timestamp: ticker.timestamp,
    datetime: new Date(ticker.timestamp).toISOString(),
    ...{ high: undefined, low: undefined, vwap: undefined, previousClose: undefined },
    ...{ indexPrice: undefined, markPrice: undefined },
    bid: num(own?.bestBid),
    bidVolume: num(own?.bestBidSize),
    ask: num(own?.bestAsk),
    askVolume: num(own?.bestAskSize),
    ...{ open, close: last, last, change },
    percentage: open === undefined || change === undefined || open === 0 ? undefined : (100 * change) / open,
    average: num(own?.midpoint),
    baseVolume: undefined,
    quoteVolume: num(own?.volume24h),
    info: ticker,
  };
}

const levelsOf = (side: readonly BookLevel[], limit: number | undefined): [number, number][] =>
  side.slice(0, limit).map(({ price, size }) => [Number(price), Number(size)]);

export const orderBookOf = (
  listed: Listed,
  sides: BookSides,
  { nonce, timestamp, limit }: { nonce: number; timestamp?: number | undefined; limit?: number | undefined },
): CcxtOrderBook => ({
  symbol: symbolOf(listed),
  bids: levelsOf(sides.bids, limit),
  asks: levelsOf(sides.asks, limit),
  timestamp,
  datetime: timestamp === undefined ? undefined : new Date(timestamp).toISOString(),
  nonce,
});

/** From the view of that outcome: a purchase of No is a sale of Yes at 1 minus the price. */
export function tradeOf(listed: Listed, trade: Trade): CcxtTrade {
  const isOwn = trade.outcomeIndex === listed.outcome;
  const side = isOwn ? trade.side : trade.side === 'BUY' ? 'SELL' : 'BUY';
  const price = isOwn ? Number(trade.price) : left(Number(trade.price));
  return {
    id: trade.id,
    ...{ order: undefined, type: undefined, takerOrMaker: 'taker', fee: undefined, fees: [] },
    timestamp: Date.parse(trade.matchedAt),
    datetime: trade.matchedAt,
    symbol: symbolOf(listed),
    side: sideOf(side),
    price,
    amount: Number(trade.size),
    cost: times(price, Number(trade.size)),
    info: trade,
  };
}

export function ownTradeOf(listed: Listed, trade: OwnTrade): CcxtTrade {
  const { own } = trade;
  const fee = feeOf(listed, own.fee, own.feeAsset);
  return {
    ...tradeOf(listed, trade),
    order: own.orderHash,
    side: sideOf(own.side),
    takerOrMaker: trade.role === 'MAKER' ? 'maker' : 'taker',
    price: Number(own.price),
    cost: times(Number(own.price), Number(trade.size)),
    ...{ fee, fees: [fee] },
  };
}

const feeOf = (listed: Listed, cost: string, asset: string): CcxtFee => ({
  currency: asset === 'COLLATERAL' ? QUOTE : baseOf(listed),
  cost: Number(cost),
});

const STATUSES = {
  OPEN: 'open',
  PARTIALLY_FILLED: 'open',
  FILLED: 'closed',
  CANCELLED: 'canceled',
  INVALIDATED: 'canceled',
  EXPIRED: 'expired',
} as const;
const IN_FORCE = { GTC: 'GTC', IOC: 'IOC', FOK: 'FOK', POST_ONLY: 'PO', MARKET: 'IOC' } as const;

export function orderOf(listed: Listed, order: Order): CcxtOrder {
  const timestamp = Date.parse(order.createdAt);
  const filled = Number(order.filledSize);
  const average = num(order.averagePrice);
  const cost = order.fills.reduce((sum, { fee }) => sum + Number(fee), 0);
  const [first] = order.fills;
  return {
    id: order.orderHash,
    clientOrderId: order.clientOrderId ?? undefined,
    timestamp,
    datetime: order.createdAt,
    lastTradeTimestamp: undefined,
    lastUpdateTimestamp: Date.parse(order.updatedAt),
    symbol: symbolOf(listed),
    type: order.orderType === 'MARKET' ? 'market' : 'limit',
    timeInForce: IN_FORCE[order.orderType],
    postOnly: order.orderType === 'POST_ONLY',
    reduceOnly: false,
    side: sideOf(order.side),
    price: Number(order.price),
    ...{ stopPrice: undefined, triggerPrice: undefined },
    average,
    amount: Number(order.size),
    filled,
    remaining: Number(order.remainingSize),
    cost: average === undefined ? 0 : times(average, filled),
    status: STATUSES[order.status],
    fee: first ? { ...feeOf(listed, '0', first.feeAsset), cost: Number(cost.toFixed(6)) } : undefined,
    trades: [],
    info: order,
  };
}

const balanceOf = (one: { available: string; reserved: string; total: string }): CcxtBalance => ({
  free: Number(one.available),
  used: Number(one.reserved),
  total: Number(one.total),
});

/** `codeOf` returns the name of a token: the base of its market. */
export function balancesOf(
  balances: Balances,
  codeOf: (token: Balances['tokens'][number]) => string,
): CcxtBalances {
  const rows: [string, CcxtBalance][] = [
    [QUOTE, balanceOf(balances.collateral)],
    ...balances.tokens.map((token): [string, CcxtBalance] => [codeOf(token), balanceOf(token)]),
  ];
  const column = (name: keyof CcxtBalance): Record<string, number> =>
    Object.fromEntries(rows.map(([code, row]) => [code, row[name] ?? 0]));
  return {
    ...Object.fromEntries(rows),
    info: balances,
    ...{ free: column('free'), used: column('used'), total: column('total') },
  };
}
