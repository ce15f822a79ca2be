import {
  type BookedOrder,
  type OrderFill,
  type PlacedFill,
  type SettledLots,
  settlementOf,
} from '../../exchange/facts';
import type { MarketTerms } from '../../exchange/market';
import { FILLS_SHOWN_MAX, feeAssetOf, SIDES } from '../../exchange/match';
import type { SignedOrder } from '../../exchange/order';
import { isFinal } from '../../exchange/status';
import { formatAverage, formatLots, formatMicro, formatPips } from '../../exchange/units';
import { iso } from '../prices';

/** `filledSize + remainingSize + cancelledSize = size`. A MARKET BUY that bought more than it had to shows the bought size. */
function sizesOf(record: BookedOrder) {
  const rest = record.sizeLots - record.filledLots;
  const final = isFinal(record.status);
  return {
    size: formatLots(record.sizeLots),
    filledSize: formatLots(record.filledLots),
    remainingSize: formatLots(final ? 0 : rest),
    cancelledSize: formatLots(final ? rest : 0),
  };
}

/** The answer to a submission, with its latest fills. Prices are in the order's own token. */
export function presentSubmission(record: BookedOrder, fills: readonly Omit<PlacedFill, 'role'>[]) {
  return {
    orderHash: record.orderHash,
    status: record.status,
    reason: record.reason,
    price: formatPips(record.pricePips),
    ...sizesOf(record),
    averagePrice: formatAverage(record.quoteMicro, record.filledLots),
    fillCount: record.fillCount,
    fills: fills.slice(-FILLS_SHOWN_MAX).map((fill) => ({
      tradeId: fill.tradeId,
      price: formatPips(fill.pricePips),
      size: formatLots(fill.sizeLots),
      matchType: fill.matchType,
      makerOrderHash: fill.makerHash,
      ...presentFee(record, fill),
      matchedAt: iso(fill.matchedMs),
    })),
    sequence: record.sequence,
    createdAt: iso(record.createdAtMs),
  };
}

/** The result of an order that another one replaced. */
export function presentReplaced(record: BookedOrder) {
  const { filledSize, cancelledSize } = sizesOf(record);
  return { orderHash: record.orderHash, filledSize, cancelledSize };
}

export interface OrderFacts {
  readonly record: BookedOrder;
  readonly fills: readonly OrderFill[];
  /** As it was sent; addresses checksummed. */
  readonly signed: SignedOrder;
  /** Null with paper funds. */
  readonly settled: SettledLots | null;
}

/**
 * The viewer of an order. Only the maker sees `clientOrderId` and the signed struct, which settles on chain. Answers that
 * would repeat the struct omit it.
 */
export type Viewer = 'ANYBODY' | 'MAKER' | 'MAKER_WITHOUT_STRUCT';

/** The body of GET /orders/{order_hash}. */
export function presentOrder(
  { record, fills, signed, settled }: OrderFacts,
  terms: MarketTerms,
  viewer: Viewer = 'ANYBODY',
) {
  return {
    orderHash: record.orderHash,
    marketId: record.marketId,
    conditionId: terms.conditionId,
    maker: signed.maker,
    outcomeIndex: record.outcome,
    tokenId: terms.tokenIds[record.outcome],
    side: SIDES[record.side],
    orderType: record.orderType,
    price: formatPips(record.pricePips),
    ...sizesOf(record),
    ...(settled && {
      settledSize: formatLots(settled.settledLots),
      failedSize: formatLots(settled.failedLots),
    }),
    averagePrice: formatAverage(record.quoteMicro, record.filledLots),
    status: record.status,
    reason: record.reason,
    expiration: signed.expiration.toString(),
    clientOrderId: viewer === 'ANYBODY' ? null : record.clientOrderId,
    createdAt: iso(record.createdAtMs),
    updatedAt: iso(record.updatedAtMs),
    sequence: record.sequence,
    fillCount: record.fillCount,
    fills: fills.map((fill) => presentOrderFill(record, fill)),
    ...(viewer === 'MAKER' ? { order: presentSigned(signed) } : {}),
  };
}

/** The fee of a fill for the order it is shown with. */
const presentFee = ({ side, outcome }: BookedOrder, { feeMicro }: Pick<PlacedFill, 'feeMicro'>) => ({
  fee: formatMicro(feeMicro),
  feeAsset: feeAssetOf(side, outcome),
});

/** A fill from the view of its order. */
export function presentOrderFill(record: BookedOrder, fill: OrderFill) {
  return {
    tradeId: fill.tradeId,
    price: formatPips(fill.pricePips),
    size: formatLots(fill.sizeLots),
    role: fill.role,
    matchType: fill.matchType,
    ...presentFee(record, fill),
    matchedAt: iso(fill.matchedMs),
    ...settlementOf(fill),
  };
}

/** The signed struct in the form that a client sends. */
export function presentSigned(signed: SignedOrder) {
  return {
    salt: signed.salt.toString(),
    maker: signed.maker,
    signer: signed.signer,
    taker: signed.taker,
    tokenId: signed.tokenId.toString(),
    makerAmount: signed.makerAmount.toString(),
    takerAmount: signed.takerAmount.toString(),
    expiration: signed.expiration.toString(),
    nonce: signed.nonce.toString(),
    feeRateBps: signed.feeRateBps.toString(),
    side: signed.side,
    signatureType: signed.signatureType,
    signature: signed.signature,
  };
}

/** The answer to a single cancel; `sequence` is the number of the cancel, or the market's when nothing changed. */
export function presentCancel(record: BookedOrder, cancelled: boolean, sequence: number) {
  const { filledSize, remainingSize, cancelledSize } = sizesOf(record);
  return {
    orderHash: record.orderHash,
    status: record.status,
    cancelled,
    filledSize,
    remainingSize,
    cancelledSize,
    sequence,
    message: cancelled ? 'Order cancelled' : 'Order was cancelled before',
  };
}
