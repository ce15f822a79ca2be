import type { PlaceRequest } from '../../src/store/verbs/place';
import { type Account, createAccounts, FEE_ACCOUNT } from './accounts';
import { type Ending, pay } from './ending';
import * as matching from './matching';
import {
  type BookedFill,
  limitOf,
  MICRO_PER_LOT,
  type ModelFill,
  type ModelOrder,
  type Refused,
  refuse,
} from './matching';
import { type Place, type Swept, sweepOrders, type Wanted } from './sweep';

/**
 * A second, naive implementation of the exchange: arrays that are sorted on every match, bigint, no derived data.
 * Written from docs/use/interface.md, not from the Lua. Time is an argument. Prices in pips, sizes in lots, money in
 * micro-units; a lot of tokens is 10^4 micro-units.
 */
export interface ModelMarket extends Record<'volume' | 'openInterest', bigint> {
  readonly id: string;
  status: string;
  sequence: number;
  lastMs: number;
  lastPrice: bigint | null;
  resting: ModelOrder[];
  ended: Ending | null;
}
export interface Booked {
  readonly code: 'BOOKED';
  readonly order: ModelOrder;
  readonly fills: readonly BookedFill[];
}
export type Answer = Booked | { readonly code: 'REPLAYED'; readonly order: ModelOrder } | Refused;
type Kind = 'ORDER' | 'TRADE' | 'CANCEL' | 'EXPIRE' | 'MARKET' | 'BALANCE';
/** The expected outbox entry of one command; in `orders` the taker is first. */
export interface Emitted extends Record<'orders' | 'wallets', readonly string[]> {
  readonly kind: Kind;
  readonly market: string;
  readonly sequence: number;
  /** In a BALANCE: the reason and the amounts of collateral, Yes and No, for each wallet. */
  readonly moves?: readonly string[];
}
const DONE: Answer = refuse('OK');
const hashes = (list: readonly ModelOrder[]): string[] => list.map((o) => o.request.orderHash);
export type Model = ReturnType<typeof createModel>;

export function createModel(options: { grantMicro: number; makersMax: number; staleMax?: number }) {
  const { grantMicro, makersMax, staleMax = 200 } = options;
  const markets = new Map<string, ModelMarket>();
  const orders = new Map<string, ModelOrder>();
  const operations = new Map<string, bigint>();
  const nonces = new Map<string, number>();
  const emitted: Emitted[] = [];
  /** Submissions between two steps. */
  const cut = new Map<string, Booked>();
  let mode = 'NORMAL';
  /** Markets that have ended, until no work is left in them. */
  const ending = new Set<string>();
  const market = (id: string): ModelMarket => markets.get(id) as ModelMarket;
  const { account, held, source, bound, reserve } = createAccounts(grantMicro);
  function emit(kind: Kind, id: string, touched: readonly string[]): void {
    emitted.push({ kind, market: id, sequence: market(id).sequence, orders: touched, wallets: [] });
  }
  /** Orders leave the book unfilled, and their reserve is released. */
  function retire(list: readonly ModelOrder[], status: string, reason: string, nowMs: number): void {
    for (const o of list) {
      const m = market(o.request.marketId);
      if (!cut.delete(o.request.orderHash)) {
        m.resting = m.resting.filter((other) => other !== o);
        reserve(o.request, -bound(o.request, matching.remaining(o)));
      }
      const isFull = o.filled === o.size;
      Object.assign(o, {
        status: isFull ? 'FILLED' : status,
        reason: isFull ? null : reason,
        updatedMs: nowMs,
      });
    }
  }
  /** The same as a separate command, if there are any. Returns their number. */
  function leave(id: string, list: ModelOrder[], reason: string, nowMs: number): number {
    if (list.length === 0) return 0;
    const kind = reason === 'EXPIRED' ? 'EXPIRE' : 'CANCEL';
    const status = { EXPIRED: 'EXPIRED', NONCE: 'INVALIDATED' }[reason] ?? 'CANCELLED';
    market(id).sequence++;
    retire(list, status, reason, nowMs);
    emit(kind, id, hashes(list));
    return list.length;
  }
  /** The wallets that have had their grant. */
  const known = new Set<string>();
  /** A wallet gets its grant with the first command that changes its collateral or its nonce. */
  function welcome(who: string): void {
    if (known.has(who)) return;
    known.add(who);
    const moves = [`GRANT ${grantMicro} 0 0`];
    if (grantMicro > 0)
      emitted.push({ kind: 'BALANCE', market: '--------', sequence: 0, orders: [], wallets: [who], moves });
  }
  const nonce = (who: string): number => nonces.get(who) ?? 0;
  function raise(who: string): Answer {
    welcome(who);
    nonces.set(who, nonce(who) + 1);
    const moves = ['NOTHING 0 0 0'];
    emitted.push({ kind: 'BALANCE', market: '--------', sequence: 0, orders: [], wallets: [who], moves });
    return DONE;
  }
  /**
   * A bounded step over a wallet's open orders after `after`, oldest first; those below the nonce end, market by market.
   * Returns their number, and the last order looked at while there are more.
   */
  function invalidate(who: string, below: number, after: ModelOrder | null, most: number, nowMs: number) {
    const mine = [...markets.values()].flatMap(({ resting }) =>
      resting.filter(({ request }) => request.maker === who),
    );
    const age = (o: ModelOrder): string => `${matching.rankOf(o)} ${o.request.orderHash}`;
    const ahead = mine
      .filter((o) => !after || age(o) > age(after))
      .sort((a, b) => (age(a) < age(b) ? -1 : 1));
    const seen = ahead.slice(0, most);
    const stale = seen.filter(({ request }) => request.nonce < below);
    const inMarket = (id: string): ModelOrder[] => stale.filter(({ request }) => request.marketId === id);
    for (const id of new Set(stale.map((o) => o.request.marketId))) leave(id, inMarket(id), 'NONCE', nowMs);
    return { invalidated: stale.length, next: ahead.length > most ? (seen.at(-1) ?? null) : null };
  }
  /** The refusals that need no book, in the order of docs/use/interface.md. */
  function objection(r: PlaceRequest, nowMs: number): Refused | null {
    const m = markets.get(r.marketId);
    if (!m) return refuse('MARKET_NOT_FOUND');
    if (r.nonce !== nonce(r.maker)) return refuse('INVALID_NONCE_VALUE', nonce(r.maker));
    if (matching.isExpired(r, nowMs)) return refuse('ORDER_EXPIRED');
    if (m.status !== 'OPEN') return refuse('MARKET_NOT_OPEN', m.status);
    if (mode !== 'NORMAL') return refuse(mode);
    if (r.deadlineMs > 0 && nowMs >= r.deadlineMs) return refuse('DEADLINE_EXCEEDED');
    return null;
  }
  /** Whether the wallet can pay for the order; the reserve of a replaced order counts as free. */
  function shortage(r: PlaceRequest, old: ModelOrder | null): Refused | null {
    const required = matching.isBudget(r) ? BigInt(r.order.budgetMicro) : bound(r, BigInt(r.order.sizeLots));
    const asset = r.order.side === 0 ? 'COLLATERAL' : r.order.outcome === 0 ? 'YES' : 'NO';
    const freed = old && source(old.request) === source(r) ? bound(old.request, matching.remaining(old)) : 0n;
    const free = source(r).free + freed;
    return free < required ? refuse('INSUFFICIENT_BALANCE', required, free, asset) : null;
  }
  /** One side of a fill: pays out of `from`, gets its proceeds less the fee. */
  function trade(r: PlaceRequest, lots: bigint, price: bigint, fee: bigint, from: keyof Account): void {
    const [value, size, isBuy] = [lots * price, lots * MICRO_PER_LOT, r.order.side === 0];
    const proceeds = (who: string): Account => (isBuy ? held(r, who) : account('cash', who));
    source(r)[from] -= isBuy ? value : size;
    proceeds(r.maker).free += (isBuy ? size : value) - fee;
    proceeds(FEE_ACCOUNT).free += fee;
  }
  function settle(m: ModelMarket, taker: ModelOrder, fills: readonly ModelFill[]): void {
    for (const { maker, lots, price, type, takerFee, makerFee } of fills) {
      trade(maker.request, lots, limitOf(maker.request), makerFee, 'reserved');
      trade(taker.request, lots, price, takerFee, 'free');
      maker.filled += lots;
      maker.quote += lots * limitOf(maker.request);
      maker.fillCount++;
      maker.status = maker.filled === maker.size ? 'FILLED' : 'PARTIALLY_FILLED';
      Object.assign(maker, { updatedMs: taker.updatedMs, fillMs: taker.fillMs, fillSequence: m.sequence });
      Object.assign(m, { lastPrice: matching.yesPrice(maker.request), lastMs: taker.fillMs });
      m.volume += lots * price;
      if (type !== 'COMPLEMENTARY') m.openInterest += (type === 'MINT' ? lots : -lots) * MICRO_PER_LOT;
    }
    m.resting = m.resting.filter((o) => o.filled < o.size);
  }
  /** The reason why this order cannot replace the order of that hash; or that order. */
  function replaceable(r: PlaceRequest, oldHash: string): ModelOrder | Refused {
    const old = orders.get(oldHash);
    const isMine = old?.request.maker === r.maker && old.request.marketId === r.marketId;
    if (!old || !isMine) return refuse('ORDER_NOT_FOUND');
    return market(r.marketId).resting.includes(old) ? old : refuse('ORDER_NOT_CANCELLABLE', oldHash);
  }
  /** `isStepwise` books the first step only. With `oldHash`, replaces that order: it ends first, if this one is booked, and does not exist for it. */
  function place(r: PlaceRequest, nowMs: number, oldHash: string | null = null, isStepwise = false): Answer {
    const known = orders.get(r.orderHash);
    if (known) return { code: 'REPLAYED', order: known };
    const refusal = objection(r, nowMs);
    if (refusal) return refusal;
    const old = oldHash === null ? null : replaceable(r, oldHash);
    if (old && 'code' in old) return old;
    const short = shortage(r, old);
    if (short) return short;
    return book(r, nowMs, old, null, isStepwise);
  }
  /** Books the first step of a submission, or the one behind those that booked `before`, and all that follow. */
  function book(
    r: PlaceRequest,
    nowMs: number,
    old: ModelOrder | null,
    before: Booked | null,
    isStepwise: boolean,
  ): Answer {
    const m = market(r.marketId);
    const [others, begun] = [m.resting.filter((o) => o !== old), before?.order ?? null];
    const plan = matching.walk(r, others, makersMax, nowMs, nonce, begun);
    const { fills, stale, stopped } = plan;
    const isLate = ({ request }: ModelOrder): boolean => matching.isExpired(request, nowMs);
    const isInvalid = (o: ModelOrder): boolean => !isLate(o);
    if (stale.length > staleMax) {
      const first = stale.slice(0, staleMax + 1);
      leave(m.id, first.filter(isLate), 'EXPIRED', nowMs);
      leave(m.id, first.filter(isInvalid), 'NONCE', nowMs);
      return before
        ? book(r, nowMs, null, before, isStepwise)
        : place(r, nowMs, old?.request.orderHash, isStepwise);
    }
    const outcome = matching.verdict(r, plan, begun);
    if ('code' in outcome) return outcome;
    const filled = matching.taken(plan) + (begun?.filled ?? 0n);
    const wanted = BigInt(r.order.sizeLots);
    if (old && !r.dryRun) leave(m.id, [old], 'REPLACED', nowMs);
    const sequence = m.sequence + (old && r.dryRun ? 2 : 1);
    const tradeMs = Math.max(nowMs, m.lastMs);
    const traded = { fillMs: tradeMs, fillSequence: sequence };
    const { fillMs = 0, fillSequence = 0 } = fills.length > 0 ? traded : (begun ?? {});
    const order = {
      request: r,
      ...outcome,
      size: filled > wanted ? filled : wanted,
      filled,
      quote: matching.spent(plan) + (begun?.quote ?? 0n),
      createdMs: begun?.createdMs ?? nowMs,
      updatedMs: nowMs,
      sequence,
      fillMs,
      fillSequence,
      fillCount: fills.length + (begun?.fillCount ?? 0),
    };
    const own = fills.map((fill, index) => ({ ...fill, tradeMs, sequence, index }));
    const booked = { code: 'BOOKED', order, fills: [...(before?.fills ?? []), ...own] } as const;
    if (r.dryRun) return booked;
    m.sequence = sequence;
    orders.set(r.orderHash, order);
    settle(m, order, fills);
    retire(stale.filter(isLate), 'EXPIRED', 'EXPIRED', nowMs);
    retire(stale.filter(isInvalid), 'INVALIDATED', 'NONCE', nowMs);
    retire(stopped, 'CANCELLED', 'SELF_TRADE', nowMs);
    const isCut = matching.isCut(r, plan);
    if (!isCut && (order.status === 'OPEN' || order.status === 'PARTIALLY_FILLED')) {
      m.resting.push(order);
      reserve(r, bound(r, matching.remaining(order)));
    }
    if (filled > 0n || m.resting.includes(order)) welcome(r.maker);
    const makers = [...fills.map(({ maker }) => maker), ...stale, ...stopped];
    emit(fills.length > 0 ? 'TRADE' : 'ORDER', m.id, [r.orderHash, ...hashes(makers)]);
    cut.delete(r.orderHash);
    if (isCut) cut.set(r.orderHash, booked);
    return isCut && !isStepwise ? book(r, nowMs, null, booked, false) : booked;
  }
  /** The next step of a submission that was placed stepwise. */
  function step(hash: string, nowMs: number): Answer {
    const before = cut.get(hash);
    return before ? book(before.order.request, nowMs, null, before, true) : refuse('ORDER_NOT_FOUND');
  }
  /** One result per hash: the current order when it is this wallet's here, and whether this call cancelled it. */
  function cancel(id: string, maker: string, wanted: readonly string[], reason: string, nowMs: number) {
    const isMine = ({ request }: ModelOrder) => request.maker === maker && request.marketId === id;
    const between = [...cut.values()].map(({ order }) => order);
    const own = [...market(id).resting, ...between].filter(isMine);
    const list = own.filter((o) => wanted.includes(o.request.orderHash));
    leave(id, list, reason, nowMs);
    return wanted.map((hash) => {
      const order = orders.get(hash);
      return { order: order && isMine(order) ? order : null, cancelled: list.some((o) => o === order) };
    });
  }
  /** A step of cancelling a wallet's orders, all or those selected (./sweep). */
  const sweep = (who: string, wanted: Wanted, from: Place | null, look: number, nowMs: number): Swept => {
    const cancel = (id: string, list: ModelOrder[]) => leave(id, list, 'CANCEL_ALL', nowMs);
    return sweepOrders({ orders, cancel, market }, who, wanted, from, look);
  };
  /** Oldest first over all markets; one command for each market touched. Returns how many. */
  function expire(most: number, nowMs: number): number {
    const age = (o: ModelOrder): string => o.request.expirationSec + o.request.orderHash;
    const all = [...markets.values()].flatMap(({ resting }) => resting);
    const due = all.filter((o) => matching.isExpired(o.request, nowMs));
    due.sort((a, b) => (age(a) < age(b) ? -1 : 1)).splice(most);
    const dueIn = (id: string): ModelOrder[] => due.filter((o) => o.request.marketId === id);
    for (const id of new Set(due.map((o) => o.request.marketId))) leave(id, dueIn(id), 'EXPIRED', nowMs);
    return due.length;
  }
  const side = (id: string, bids: boolean): ModelOrder[] => matching.sideOf(market(id).resting, bids);
  /** A bounded step of emptying the book of an ended market: bids first, best first. Returns the number of orders. */
  function clear(id: string, most: number, nowMs: number): number {
    if (['DRAFT', 'OPEN', 'PAUSED'].includes(market(id).status)) return 0;
    const list = [...side(id, true), ...side(id, false)].slice(0, most);
    if (list.length < most && market(id).status === 'CLOSED') ending.delete(id);
    return leave(id, list, 'MARKET_CLOSED', nowMs);
  }
  /** The price of Yes in tenths of a pip: the midpoint of at most ten cents, else the last trade, else nothing. */
  function worthOf({ resting, lastPrice }: ModelMarket): string {
    const [bid, ask] = [true, false].map((bids) => matching.sideOf(resting, bids)[0]);
    const [low = 0n, high = 10_000n] = [bid, ask].map((one) => one && matching.yesPrice(one.request));
    if (bid && ask && high - low <= 1_000n) return ` ${(low + high) * 5n}`;
    return lastPrice === null ? '' : ` ${lastPrice * 10n}`;
  }
  /** Splits (above zero) or merges (below zero) full sets. */
  function convert(id: string, who: string, sets: bigint, operation: string): Answer {
    const m = market(id);
    const before = operations.get(operation);
    if (before !== undefined) return before === sets ? DONE : refuse('IDEMPOTENCY_KEY_REUSED');
    if (m.status !== 'OPEN') return refuse('MARKET_NOT_OPEN', m.status);
    if (mode !== 'NORMAL') return refuse(mode);
    const changes = { cash: -sets, [`${id}0`]: sets, [`${id}1`]: sets };
    for (const [asset, change] of Object.entries(changes)) {
      const name = asset === 'cash' ? 'COLLATERAL' : asset.endsWith('0') ? 'YES' : 'NO';
      const { free } = account(asset, who);
      if (free + change < 0n) return refuse('INSUFFICIENT_BALANCE', -change, free, name);
    }
    for (const [asset, change] of Object.entries(changes)) account(asset, who).free += change;
    welcome(who);
    m.openInterest += sets;
    operations.set(operation, sets);
    const amount = sets > 0n ? sets : -sets;
    const moves = [`${sets > 0n ? 'SPLIT' : 'MERGE'} ${amount} ${amount} ${amount}${worthOf(m)}`];
    emitted.push({ kind: 'BALANCE', market: id, sequence: m.sequence, orders: [], wallets: [who], moves });
    return DONE;
  }
  function move(id: string, to: string, from: readonly string[]): Answer {
    const m = market(id);
    if (m.status === to) return DONE;
    if (!from.includes(m.status)) return refuse('MARKET_NOT_OPEN', m.status);
    Object.assign(m, { status: to, sequence: m.sequence + 1 });
    if (to === 'CLOSED') ending.add(id);
    emit('MARKET', id, []);
    return DONE;
  }
  /** An outcome has won or, with null, the market is void. */
  function resolve(id: string, outcome: Ending['outcome']): Answer {
    const m = market(id);
    const same = m.ended ? m.ended.outcome === outcome : m.status !== 'DRAFT';
    if (!same) return refuse('MARKET_NOT_OPEN', m.status);
    if (m.ended) return DONE;
    const start = { sets: m.openInterest, paid: 0n, accounts: 0, done: false, records: new Map() };
    Object.assign(m, { status: outcome === null ? 'VOIDED' : 'RESOLVED', sequence: m.sequence + 1 });
    m.ended = { outcome, ...start };
    ending.add(id);
    emit('MARKET', id, []);
    return DONE;
  }
  /** Whether holders can be paid now: the market has ended, not all are paid, and no order rests. */
  function mayPay(id: string): boolean {
    const { ended, resting } = market(id);
    return ended !== null && !ended.done && resting.length === 0;
  }
  /** One step: pays these accounts; with `last`, no account is left. */
  function payHolders(id: string, who: readonly string[], last: boolean): void {
    const m = market(id);
    if (m.ended) pay(m, m.ended, who, last, { account, emitted, feeAccount: FEE_ACCOUNT });
    if (last) ending.delete(id);
  }
  function addMarket(id: string): void {
    const start = { status: 'OPEN', sequence: 1, lastPrice: null, lastMs: 0, volume: 0n, openInterest: 0n };
    markets.set(id, { id, ...start, resting: [], ended: null });
    emit('MARKET', id, []);
  }
  const verbs = {
    addMarket,
    place,
    step,
    cancel,
    sweep,
    leave,
    expire,
    convert,
    move,
    clear,
    raise,
    invalidate,
    welcome,
  };
  const ends = {
    resolve,
    mayPay,
    pay: payHolders,
    ending: () => [...ending].sort(),
    isEnding: (id: string) => market(id).ended !== null && !market(id).ended?.done,
    mode: () => mode,
    setMode: (to: string): void => {
      mode = to;
    },
  };
  return { ...verbs, ...ends, market, account, nonce, side, orders, cut, emitted };
}
