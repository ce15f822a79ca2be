import type { BookFacts, MarketView, TradeFacts } from '../../exchange/facts';
import type { MarketEvent, MarketTerms, OutcomeIndex, Resolution } from '../../exchange/market';
import { ORDER_TYPES } from '../../exchange/status';
import { formatLots, formatMicro, formatPips, LOTS_MAX } from '../../exchange/units';
import {
  formatMidpoint,
  formatPrice,
  formatSize,
  formatSpread,
  formatWorth,
  iso,
  isoOrNull,
  lastOf,
  touchOf,
} from '../prices';
import { presentOrderbook } from './book';
import { presentTrade } from './trade';

const INDEXES = [0, 1] as const;

export function presentMarket({ terms, texts, state, day }: MarketView) {
  const touch = touchOf(state, 0);
  return {
    id: terms.id,
    slug: terms.slug,
    conditionId: terms.conditionId,
    questionId: terms.questionId,
    question: texts.question,
    description: texts.description,
    category: texts.category,
    tags: texts.tags,
    imageUrl: texts.imageUrl,
    resolutionSource: texts.resolutionSource ?? null,
    event: terms.event ?? null,
    status: state.status,
    outcomes: INDEXES.map((index) => ({
      index,
      name: terms.outcomeNames[index],
      tokenId: terms.tokenIds[index],
      price: formatWorth(state, index),
    })),
    tickSize: formatPips(terms.tickPips),
    lotSize: formatLots(terms.lotLots),
    minOrderSize: formatLots(terms.minOrderLots),
    feeRateBps: terms.feeRateBps,
    bestBid: formatPrice(touch.bid?.pricePips),
    bestAsk: formatPrice(touch.ask?.pricePips),
    midpoint: formatMidpoint(touch),
    spread: formatSpread(touch),
    lastTradePrice: formatPrice(state.lastPips),
    volume: formatMicro(state.volumeMicro),
    volume24h: formatMicro(day.volumeMicro),
    priceChange24h: changeOf(state.lastPips, day.openPips, 0),
    liquidity: formatMicro(state.liquidityMicro),
    openInterest: formatMicro(state.openInterestMicro),
    resolution: state.resolution && presentResolution(state.resolution),
    createdAt: iso(terms.createdAtMs),
    closesAt: isoOrNull(texts.closesAtMs),
    resolvedAt: isoOrNull(state.resolution?.resolvedAtMs ?? null),
    sequence: state.sequence,
  };
}

/** A market as operators see it. `shard` is null where the exchange has only one. */
export const presentOwnMarket = (view: MarketView, shard: number | null) => ({
  ...presentMarket(view),
  ...(shard !== null && { shard }),
});

/** `payouts`: the values of a Yes and a No token. */
function presentResolution({ outcome, resolvedAtMs, evidence, payoutAtMs }: Resolution) {
  const payouts = outcome === null ? ['0.5', '0.5'] : INDEXES.map((index) => (index === outcome ? '1' : '0'));
  return {
    outcomeIndex: outcome,
    payouts,
    resolvedAt: iso(resolvedAtMs),
    evidence,
    payoutAt: iso(payoutAtMs),
  };
}

/** `GET /events/{slug}`: its markets, the oldest first. */
export const presentEvent = ({ slug, title }: MarketEvent, markets: readonly MarketView[]) => ({
  slug,
  title,
  markets: markets.map(presentMarket),
});

/** The facts of a ticker. */
export type TickerFacts = Pick<MarketView, 'terms' | 'day' | 'nowMs'> & { readonly state: BookFacts };

export function presentTicker(market: TickerFacts) {
  const { terms, state, nowMs } = market;
  return {
    marketId: terms.id,
    conditionId: terms.conditionId,
    sequence: state.sequence,
    timestamp: nowMs,
    outcomes: INDEXES.map((index) => tickerOf(market, index)),
  };
}

function tickerOf({ terms, state, day }: TickerFacts, index: OutcomeIndex) {
  const touch = touchOf(state, index);
  return {
    index,
    name: terms.outcomeNames[index],
    tokenId: terms.tokenIds[index],
    bestBid: formatPrice(touch.bid?.pricePips),
    bestBidSize: formatSize(touch.bid?.sizeLots),
    bestAsk: formatPrice(touch.ask?.pricePips),
    bestAskSize: formatSize(touch.ask?.sizeLots),
    midpoint: formatMidpoint(touch),
    spread: formatSpread(touch),
    lastTradePrice: formatPrice(lastOf(state, index)),
    // Every trade belongs to the market, whichever token its taker named.
    volume24h: formatMicro(day.volumeMicro),
    priceChange24h: changeOf(state.lastPips, day.openPips, index),
  };
}

/** Last trade minus the price 24 hours ago; the No token moves the other way. */
function changeOf(lastPips: number | null, openPips: number | null, index: OutcomeIndex): string | null {
  if (lastPips === null || openPips === null) return null;
  return formatPips(index === 0 ? lastPips - openPips : openPips - lastPips);
}

/** The facts that a ticket needs besides the market itself; addresses checksummed. */
export interface TradingTerms {
  readonly eip712: Eip712Facts;
  readonly contracts: ContractFacts;
}

interface Eip712Facts {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly primaryType: string;
  /** Without the type of the domain, which ethers makes itself and refuses when it is given. */
  readonly types: Eip712Types;
  /** As `eth_signTypedData_v4` takes them. */
  readonly typesWithDomain: Eip712Types;
}

type Eip712Types = Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;

interface ContractFacts {
  readonly exchange: string;
  readonly collateral: string;
  readonly conditionalTokens: string;
}

/** Everything that a ticket shows, of one moment, except the time of the answer (`serverTime`); `fills` newest first. */
export function presentTrading(market: MarketView, fills: readonly TradeFacts[], ticket: TradingTerms) {
  const { exchange, collateral, conditionalTokens } = ticket.contracts;
  return {
    market: presentMarket(market),
    orderbook: presentOrderbook(market),
    ticker: presentTicker(market),
    recentTrades: fills.map((fill) => presentTrade(fill, market.terms)),
    eip712: ticket.eip712,
    approvals: {
      collateral: { token: collateral, spender: exchange },
      conditionalTokens: { token: conditionalTokens, operator: exchange },
    },
    limits: presentLimits(market.terms),
    sequence: market.state.sequence,
  };
}

function presentLimits(terms: MarketTerms) {
  return {
    tickSize: formatPips(terms.tickPips),
    lotSize: formatLots(terms.lotLots),
    minOrderSize: formatLots(terms.minOrderLots),
    maxOrderSize: formatLots(LOTS_MAX),
    feeRateBps: terms.feeRateBps,
    orderTypes: ORDER_TYPES,
  };
}
