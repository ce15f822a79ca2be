import type { PlaceRequest } from '../../src/store/verbs/place';
import { feeOfFill } from './fee';

/** The makers of a match, their prices and fees: a stateless function of an order and the resting orders. */
export interface ModelOrder
  extends Record<'size' | 'filled' | 'quote', bigint>,
    Record<'createdMs' | 'updatedMs' | 'sequence' | 'fillMs' | 'fillSequence' | 'fillCount', number> {
  readonly request: PlaceRequest;
  status: string;
  reason: string | null;
}
/** `price` is in the taker's token. */
export interface ModelFill extends Record<'lots' | 'price' | 'takerFee' | 'makerFee', bigint> {
  readonly maker: ModelOrder;
  readonly type: string;
}
/** A fill of a submission that was booked: the match that has it, and its index there. */
export interface BookedFill extends ModelFill {
  readonly tradeMs: number;
  readonly sequence: number;
  readonly index: number;
}
export interface Refused {
  readonly code: string;
  readonly detail: readonly (string | number | bigint)[];
}
export const refuse = (code: string, ...detail: Refused['detail']): Refused => ({ code, detail });

interface Plan extends Record<'stale' | 'stopped', ModelOrder[]> {
  readonly fills: ModelFill[];
  stop: string | null;
}
const ONE_PIPS = 10_000n;
export const MICRO_PER_LOT = 10_000n;

const sum = (list: readonly bigint[]): bigint => list.reduce((total, n) => total + n, 0n);
export const isBudget = (r: PlaceRequest): boolean => r.orderType === 'MARKET' && r.order.side === 0;
export const limitOf = (r: PlaceRequest): bigint => BigInt(r.order.pricePips);
const ofOutcome = (price: bigint, outcome: number): bigint => (outcome === 0 ? price : ONE_PIPS - price);
/** BUY Yes and SELL No are bids. */
export const isBid = (r: PlaceRequest): boolean => (r.order.side === 0) === (r.order.outcome === 0);
export const yesPrice = (r: PlaceRequest): bigint => ofOutcome(limitOf(r), r.order.outcome);
/** Age among a wallet's orders; orders of the same age are sorted by their hash. */
export const rankOf = (o: ModelOrder): number => o.createdMs * 1000 + (o.sequence % 1000);
export const remaining = (o: ModelOrder): bigint => o.size - o.filled;
export const isExpired = ({ expirationSec }: PlaceRequest, nowMs: number): boolean =>
  expirationSec > 0 && nowMs >= expirationSec * 1000;
export const taken = ({ fills }: Plan): bigint => sum(fills.map(({ lots }) => lots));
export const spent = ({ fills }: Plan): bigint => sum(fills.map(({ lots, price }) => lots * price));

/** One side of the Yes book: best price, then arrival. */
export function sideOf(resting: readonly ModelOrder[], bids: boolean): ModelOrder[] {
  const worse = (o: ModelOrder): number => Number(yesPrice(o.request)) * (bids ? -1 : 1);
  const side = resting.filter((o) => isBid(o.request) === bids);
  return side.sort((a, b) => worse(a) - worse(b) || a.sequence - b.sequence);
}
/**
 * Meets the other side in its order of priority; orders below the nonce of their wallet are in the way. `before` is the order as its
 * earlier steps left it.
 */
export function walk(
  r: PlaceRequest,
  resting: readonly ModelOrder[],
  most: number,
  nowMs: number,
  nonceOf: (who: string) => number,
  before: ModelOrder | null,
): Plan {
  const plan: Plan = { fills: [], stale: [], stopped: [], stop: null };
  const crosses = (yes: bigint): boolean => (isBid(r) ? yes <= yesPrice(r) : yes >= yesPrice(r));
  for (const maker of sideOf(resting, !isBid(r)).filter((o) => crosses(yesPrice(o.request)))) {
    const price = ofOutcome(yesPrice(maker.request), r.order.outcome);
    const lot = BigInt(r.lotLots);
    const affordable =
      ((BigInt(r.order.budgetMicro) - (before?.quote ?? 0n) - spent(plan)) / (price * lot)) * lot;
    const left = isBudget(r) ? affordable : BigInt(r.order.sizeLots) - (before?.filled ?? 0n) - taken(plan);
    // A maker is expired or invalidated before the budget turns out to be too small for it.
    if (left === 0n && !isBudget(r)) break;
    if (isExpired(maker.request, nowMs) || maker.request.nonce < nonceOf(maker.request.maker)) {
      plan.stale.push(maker);
      continue;
    }
    if (left === 0n) break;
    const prevention = maker.request.maker === r.maker ? r.selfTradePrevention : 'NONE';
    if (r.orderType === 'POST_ONLY') plan.stop = `POST_ONLY at ${price}`;
    else if (plan.fills.length + plan.stopped.length === most) plan.stop = 'MATCH_LIMIT';
    else if (prevention === 'CANCEL_TAKER' || prevention === 'CANCEL_BOTH') plan.stop = 'SELF_TRADE';
    if (plan.stop !== 'MATCH_LIMIT' && /MAKER|BOTH/.test(prevention)) plan.stopped.push(maker);
    if (plan.stop) break;
    if (prevention === 'CANCEL_MAKER') continue;
    const alike = r.order.side === 0 ? 'MINT' : 'MERGE';
    const type = r.order.side === maker.request.order.side ? alike : 'COMPLEMENTARY';
    const lots = left < remaining(maker) ? left : remaining(maker);
    const takerFee = feeOf(r, lots, price);
    const makerFee = feeOf(maker.request, lots, limitOf(maker.request));
    plan.fills.push({ maker, lots, price, type, takerFee, makerFee });
    // A taker that cannot take all of a maker is done: only the last maker keeps lots.
    if (lots < remaining(maker)) break;
  }
  return plan;
}
/** Whether another step follows. */
export const isCut = (r: PlaceRequest, { stop }: Plan): boolean =>
  stop === 'MATCH_LIMIT' && r.orderType !== 'FOK';
/** Status and reason of the taker, or a refusal. */
export function verdict(
  r: PlaceRequest,
  plan: Plan,
  before: ModelOrder | null,
): Pick<ModelOrder, 'status' | 'reason'> | Refused {
  const [size, stop] = [BigInt(r.order.sizeLots), plan.stop];
  const filled = taken(plan) + (before?.filled ?? 0n);
  if (isCut(r, plan)) return { status: filled > 0n ? 'PARTIALLY_FILLED' : 'OPEN', reason: null };
  if (stop?.startsWith('POST_ONLY')) return refuse('POST_ONLY_WOULD_CROSS', stop.slice(13));
  if (filled >= size) return { status: 'FILLED', reason: null };
  if (r.orderType === 'FOK') return stop === 'SELF_TRADE' ? refuse(stop) : refuse('FOK_NOT_FILLED', filled);
  const rest = { IOC: 'IOC_REMAINDER', MARKET: 'MARKET_REMAINDER', GTC: null, POST_ONLY: null }[r.orderType];
  if (stop ?? rest) return { status: 'CANCELLED', reason: stop ?? rest };
  return { status: filled > 0n ? 'PARTIALLY_FILLED' : 'OPEN', reason: null };
}
/** The fee that an order pays for `lots` at `price`. */
const feeOf = (r: PlaceRequest, lots: bigint, price: bigint): bigint =>
  feeOfFill(BigInt(r.feeRateBps), r.order.side, lots * price, lots * MICRO_PER_LOT);
