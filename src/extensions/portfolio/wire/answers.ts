import type { BookFacts, TradeFacts } from '../../../exchange/facts';
import {
  type MarketId,
  type MarketTerms,
  type OutcomeIndex,
  payoutHalves,
  type Resolution,
} from '../../../exchange/market';
import { feeAssetOf, SIDES } from '../../../exchange/match';
import { formatLots, formatMicro, formatPips, formatRatio, type Micro } from '../../../exchange/units';
import { presentTrade, type SideFacts } from '../../../wire/answers/trade';
import { iso, isoOrNull, WORTH_PER_ONE, worthOf, worthText } from '../../../wire/prices';
import type { Change, Position } from '../position';
import { nextWeek } from '../week';

export interface PositionFacts extends Position {
  readonly outcome: OutcomeIndex;
}

/** A line of GET /me/positions, valued at the price that its market shows for the outcome, or at its payout. */
export function presentPosition(
  position: PositionFacts,
  terms: MarketTerms,
  state: BookFacts & { readonly resolution: Resolution | null },
) {
  const { outcome, sizeMicro, costMicro, realizedMicro } = position;
  const worth = state.resolution
    ? (payoutHalves(state.resolution, outcome) * WORTH_PER_ONE) / 2
    : worthOf(state, outcome);
  // The value of no tokens is 0 at any price.
  const value =
    sizeMicro === 0n ? 0n : worth === null ? null : (sizeMicro * BigInt(worth)) / BigInt(WORTH_PER_ONE);
  return {
    marketId: terms.id,
    conditionId: terms.conditionId,
    outcomeIndex: outcome,
    tokenId: terms.tokenIds[outcome],
    size: formatMicro(sizeMicro),
    averagePrice: formatRatio(costMicro, sizeMicro),
    currentValue: value === null ? null : formatMicro(value),
    realizedPnl: formatMicro(realizedMicro),
    unrealizedPnl: value === null ? null : formatMicro(value - costMicro),
  };
}

/** An event other than a trade. */
const NO_TRADE = {
  side: null,
  outcomeIndex: null,
  role: null,
  price: null,
  size: null,
  fee: null,
  feeAsset: null,
  tradeId: null,
  orderHash: null,
  yesPrice: null,
};

/** A line of GET /me/activity about the wallet's side of a trade. */
export function presentTradeActivity(
  id: string,
  side: SideFacts,
  fill: TradeFacts,
  change: Change,
  terms: MarketTerms,
) {
  const { order } = side;
  const [yes, no] = order.outcome === 0 ? [change.tokensMicro, 0n] : [0n, change.tokensMicro];
  return {
    id,
    type: 'TRADE' as const,
    occurredAt: iso(fill.matchedMs),
    marketId: terms.id,
    conditionId: terms.conditionId,
    side: SIDES[order.side],
    outcomeIndex: order.outcome,
    role: side.role,
    price: formatPips(side.pricePips),
    size: formatLots(fill.sizeLots),
    fee: formatMicro(side.feeMicro),
    feeAsset: feeAssetOf(order.side, order.outcome),
    tradeId: fill.id,
    orderHash: order.orderHash,
    yesPrice: null,
    changes: presentChanges(change.collateralMicro, yes, no),
  };
}

export interface MoveFacts {
  readonly reason: string;
  readonly collateralMicro: Micro;
  readonly yesMicro: Micro;
  readonly noMicro: Micro;
  readonly worth?: number;
}

/** A line of GET /me/activity about another event; `terms` is null without a market. */
export function presentMove(id: string, atMs: number, move: MoveFacts, terms: MarketTerms | null) {
  const { reason, collateralMicro, yesMicro, noMicro, worth } = move;
  const givesTokens = reason === 'SPLIT' || reason === 'SELL_FAILED';
  const [collateral, yes, no] = [BigInt(collateralMicro), BigInt(yesMicro), BigInt(noMicro)];
  return {
    ...NO_TRADE,
    id,
    type: reason.endsWith('_FAILED') ? 'REVERSAL' : reason === 'REDEEMED' ? 'REDEEM' : reason,
    occurredAt: iso(atMs),
    marketId: terms?.id ?? null,
    conditionId: terms?.conditionId ?? null,
    size: reason === 'SPLIT' || reason === 'MERGE' ? formatMicro(yes) : null,
    yesPrice: worth === undefined ? null : worthText(worth),
    changes: givesTokens ? presentChanges(-collateral, yes, no) : presentChanges(collateral, -yes, -no),
  };
}

/** The line's changes of the wallet's balances, after fees. */
const presentChanges = (collateral: bigint, yes: bigint, no: bigint) => ({
  collateral: formatMicro(collateral),
  yes: formatMicro(yes),
  no: formatMicro(no),
});

/** A wallet of a market; both are null for one that hides itself. */
export interface WalletFacts {
  readonly address: string | null;
  readonly username: string | null;
}

/** The body of GET /markets/{id}/holders; `count` counts all holders. */
export const presentHolders = (
  marketId: MarketId,
  outcomeIndex: OutcomeIndex,
  count: number,
  holders: readonly (WalletFacts & { readonly sizeMicro: bigint })[],
) => ({
  marketId,
  outcomeIndex,
  count,
  data: holders.map(({ address, username, sizeMicro }) => ({
    address,
    username,
    size: formatMicro(sizeMicro),
  })),
});

/** A line of GET /markets/{id}/activity: the public trade, and whose it was. `failedWallet` is one of the two: it may be hidden. */
export function presentMarketTrade(
  { failedWallet, ...fill }: TradeFacts,
  terms: MarketTerms,
  { taker, maker }: { readonly taker: WalletFacts; readonly maker: WalletFacts },
) {
  const isShown = [taker, maker].some(
    ({ address }) => address?.toLowerCase() === failedWallet?.toLowerCase(),
  );
  const trade = failedWallet !== undefined && isShown ? { ...fill, failedWallet } : fill;
  return { ...presentTrade(trade, terms), taker, maker };
}

export interface PortfolioFacts {
  readonly valueMicro: bigint;
  readonly cashMicro: Micro;
  readonly reservedMicro: Micro;
  readonly positionsMicro: bigint;
  readonly pnlMicro: bigint;
  readonly todayMicro: bigint;
  /** Oldest first. */
  readonly history: readonly { readonly atMs: number; readonly valueMicro: bigint }[];
}

/** The body of GET /me/portfolio. */
export const presentPortfolio = (facts: PortfolioFacts) => ({
  value: formatMicro(facts.valueMicro),
  cash: formatMicro(facts.cashMicro),
  reserved: formatMicro(facts.reservedMicro),
  positionsValue: formatMicro(facts.positionsMicro),
  pnl: { total: formatMicro(facts.pnlMicro), today: formatMicro(facts.todayMicro) },
  history: facts.history.map(({ atMs, valueMicro }) => ({
    t: Math.floor(atMs / 1_000),
    value: formatMicro(valueMicro),
  })),
});

export interface LeaderFacts {
  readonly address: string;
  readonly username: string | null;
  readonly pnlMicro: bigint;
  readonly volumeMicro: bigint;
}

/** The body of GET /leaderboard, of the week that starts then; `asOfMs` is null while it has no ranking. */
export const presentLeaderboard = (
  fromMs: number,
  asOfMs: number | null,
  leaders: readonly LeaderFacts[],
) => ({
  startsAt: iso(fromMs),
  endsAt: iso(nextWeek(fromMs)),
  asOf: isoOrNull(asOfMs),
  data: leaders.map(({ address, username, pnlMicro, volumeMicro }, i) => ({
    rank: i + 1,
    address,
    username,
    pnl: formatMicro(pnlMicro),
    volume: formatMicro(volumeMicro),
  })),
});
