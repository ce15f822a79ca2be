import type { PlaceRequest } from '../../src/store/engine';
import { calculateFee } from './fee';

/**
 * The exchange once more, naively: arrays that are sorted on every match, bigint, nothing kept that can be recomputed.
 * Written from the contract (sections 1, 2 and 4), not from the Lua. Time is an argument. Prices in pips, sizes in
 * lots, money in micro-units; tokens count 10^4 micro-units to the lot.
 */
export interface ModelOrder {
  readonly request: PlaceRequest;
  readonly createdMs: number;
  readonly sequence: number;
  size: bigint;
  filled: bigint;
  quote: bigint;
  status: string;
  reason: string | null;
  updatedMs: number;
  fillMs: number;
  fillSequence: number;
}
export interface ModelFill {
  readonly maker: ModelOrder;
  readonly lots: bigint;
  /** In the taker's token. */
  readonly price: bigint;
  readonly type: 'COMPLEMENTARY' | 'MINT' | 'MERGE';
  takerFee: bigint;
  makerFee: bigint;
}
export interface ModelMarket {
  readonly id: string;
  status: string;
  sequence: number;
  lastPrice: bigint | null;
  lastMs: number;
  volume: bigint;
  openInterest: bigint;
  resting: ModelOrder[];
}
export type Answer =
  | { readonly code: 'BOOKED'; readonly order: ModelOrder; readonly fills: readonly ModelFill[] }
  | { readonly code: 'REPLAYED'; readonly order: ModelOrder }
  | { readonly code: string; readonly detail: readonly (string | number | bigint)[] };
/** What the outbox must tell about one command. */
export interface Emitted {
  readonly kind: 'ORDER' | 'TRADE' | 'CANCEL' | 'EXPIRE' | 'MARKET' | 'BALANCE';
  readonly market: string;
  readonly sequence: number;
  /** The taker first. */
  readonly orders: readonly string[];
  readonly wallets: readonly string[];
}
interface Plan {
  readonly fills: ModelFill[];
  readonly stale: ModelOrder[];
  readonly stopped: ModelOrder[];
  stop: string | null;
  best: bigint | null;
}
interface Account {
  free: bigint;
  reserved: bigint;
}

const ONE_PIPS = 10_000n;
const MICRO_PER_LOT = 10_000n;
/** Chain units of a micro-unit at 18 decimals. */
const CHAIN = 10n ** 12n;
const SETTLEMENT_MAKERS = 50;
const FAUCET_MS = 3_600_000;
export const FEE_ACCOUNT = 'fee';

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const sum = (list: readonly bigint[]): bigint => list.reduce((total, n) => total + n, 0n);
const isBudget = (r: PlaceRequest): boolean => r.orderType === 'MARKET' && r.order.side === 0;
const limitOf = (r: PlaceRequest): bigint => BigInt(r.order.pricePips);
/** BUY Yes and SELL No are bids. */
export const isBid = (r: PlaceRequest): boolean => (r.order.side === 0) === (r.order.outcome === 0);
export const yesPrice = (r: PlaceRequest): bigint =>
  r.order.outcome === 0 ? limitOf(r) : ONE_PIPS - limitOf(r);
export const remaining = (o: ModelOrder): bigint => o.size - o.filled;
const isExpired = (r: PlaceRequest, nowMs: number): boolean =>
  r.expirationSec > 0 && nowMs >= r.expirationSec * 1000;

/** Best Yes price, then arrival. */
function byPriority(a: ModelOrder, b: ModelOrder): number {
  const better = isBid(a.request)
    ? yesPrice(b.request) - yesPrice(a.request)
    : yesPrice(a.request) - yesPrice(b.request);
  return better === 0n ? a.sequence - b.sequence : Number(better);
}

export type Model = ReturnType<typeof createModel>;

export function createModel(options: { grantMicro: number; makersMax: number; staleMax?: number }) {
  const { makersMax, staleMax = 200 } = options;
  const markets = new Map<string, ModelMarket>();
  const orders = new Map<string, ModelOrder>();
  const accounts = new Map<string, Account>();
  const faucet = new Map<string, number>();
  const operations = new Set<string>();
  const emitted: Emitted[] = [];

  const market = (id: string): ModelMarket => {
    const found = markets.get(id);
    if (!found) throw new Error(`the model has no market ${id}`);
    return found;
  };
  /** `asset` is 'cash' or a market's id and outcome. */
  function account(asset: string, who: string): Account {
    const name = `${asset}/${who}`;
    let found = accounts.get(name);
    if (!found) {
      found = {
        free: asset === 'cash' && who !== FEE_ACCOUNT ? BigInt(options.grantMicro) : 0n,
        reserved: 0n,
      };
      accounts.set(name, found);
    }
    return found;
  }
  const tokens = (r: PlaceRequest, who: string): Account => account(`${r.marketId}${r.order.outcome}`, who);
  /** Where an order's reserve comes from, and how much `lots` of it bind. */
  const source = (r: PlaceRequest): Account =>
    r.order.side === 0 ? account('cash', r.maker) : tokens(r, r.maker);
  const bound = (r: PlaceRequest, lots: bigint): bigint =>
    lots * (r.order.side === 0 ? limitOf(r) : MICRO_PER_LOT);

  function emit(kind: Emitted['kind'], id: string, touched: readonly string[], wallets: string[] = []): void {
    emitted.push({ kind, market: id, sequence: markets.get(id)?.sequence ?? 0, orders: touched, wallets });
  }

  /** Orders leave the book unfilled: their reserve is free again. */
  function retire(
    m: ModelMarket,
    list: readonly ModelOrder[],
    status: string,
    reason: string,
    nowMs: number,
  ): void {
    for (const o of list) {
      const back = bound(o.request, remaining(o));
      source(o.request).reserved -= back;
      source(o.request).free += back;
      Object.assign(o, { status, reason, updatedMs: nowMs });
    }
    m.resting = m.resting.filter((o) => !list.includes(o));
  }

  /** The refusals that need no book, in the contract's order. */
  function objection(r: PlaceRequest, nowMs: number): Answer | null {
    const m = markets.get(r.marketId);
    if (!m) return { code: 'MARKET_NOT_FOUND', detail: [] };
    if (r.nonce !== 0) return { code: 'INVALID_NONCE_VALUE', detail: [0] };
    if (isExpired(r, nowMs)) return { code: 'ORDER_EXPIRED', detail: [] };
    if (m.status !== 'OPEN') return { code: 'MARKET_NOT_OPEN', detail: [m.status] };
    if (r.deadlineMs > 0 && nowMs >= r.deadlineMs) return { code: 'DEADLINE_EXCEEDED', detail: [] };
    const required = isBudget(r) ? BigInt(r.order.budgetMicro) : bound(r, BigInt(r.order.sizeLots));
    const { free } = source(r);
    const asset = r.order.side === 0 ? 'COLLATERAL' : r.order.outcome === 0 ? 'YES' : 'NO';
    return free < required ? { code: 'INSUFFICIENT_BALANCE', detail: [required, free, asset] } : null;
  }

  const taken = (plan: Plan): bigint => sum(plan.fills.map((fill) => fill.lots));
  const spent = (plan: Plan): bigint => sum(plan.fills.map((fill) => fill.lots * fill.price));

  function walk(r: PlaceRequest, nowMs: number): Plan {
    const plan: Plan = { fills: [], stale: [], stopped: [], stop: null, best: null };
    const limit = yesPrice(r);
    const crossing = market(r.marketId)
      .resting.filter(({ request }) => isBid(request) !== isBid(r))
      .filter(({ request }) => (isBid(r) ? yesPrice(request) <= limit : yesPrice(request) >= limit))
      .sort(byPriority);
    for (const maker of crossing) {
      const left = BigInt(r.order.sizeLots) - taken(plan);
      if (!isBudget(r) && left === 0n) break;
      if (isExpired(maker.request, nowMs)) {
        plan.stale.push(maker);
        if (plan.stale.length > staleMax) break;
        continue;
      }
      const price = r.order.outcome === 0 ? yesPrice(maker.request) : ONE_PIPS - yesPrice(maker.request);
      const lot = BigInt(r.lotLots);
      const affordable = ((BigInt(r.order.budgetMicro) - spent(plan)) / (price * lot)) * lot;
      if (isBudget(r) && affordable === 0n) break;
      if (r.orderType === 'POST_ONLY') {
        plan.best = price;
        break;
      }
      if (plan.fills.length + plan.stopped.length === makersMax) {
        plan.stop = 'MATCH_LIMIT';
        break;
      }
      if (r.selfTradePrevention !== 'NONE' && maker.request.maker === r.maker) {
        if (r.selfTradePrevention !== 'CANCEL_TAKER') plan.stopped.push(maker);
        if (r.selfTradePrevention === 'CANCEL_MAKER') continue;
        plan.stop = 'SELF_TRADE';
        break;
      }
      const sides = [r.order.side, maker.request.order.side].join('');
      const type = sides === '00' ? 'MINT' : sides === '11' ? 'MERGE' : 'COMPLEMENTARY';
      const lots = min(isBudget(r) ? affordable : left, remaining(maker));
      plan.fills.push({ maker, lots, price, type, takerFee: 0n, makerFee: 0n });
      // Whoever cannot take all of a maker is done: only the last maker met keeps anything.
      if (lots < remaining(maker)) break;
    }
    return plan;
  }

  /** Status and reason of the taker, or a refusal. */
  function verdict(r: PlaceRequest, plan: Plan): { status: string; reason: string | null } | Answer {
    const size = BigInt(r.order.sizeLots);
    const filled = taken(plan);
    if (plan.best !== null) return { code: 'POST_ONLY_WOULD_CROSS', detail: [plan.best] };
    if (isBudget(r) ? filled >= size : filled === size) return { status: 'FILLED', reason: null };
    if (r.orderType === 'FOK') {
      if (plan.stop === 'SELF_TRADE') return { code: 'SELF_TRADE', detail: [] };
      return { code: 'FOK_NOT_FILLED', detail: [filled] };
    }
    if (plan.stop) return { status: 'CANCELLED', reason: plan.stop };
    if (r.orderType === 'IOC') return { status: 'CANCELLED', reason: 'IOC_REMAINDER' };
    if (r.orderType === 'MARKET') return { status: 'CANCELLED', reason: 'MARKET_REMAINDER' };
    return { status: filled > 0n ? 'PARTIALLY_FILLED' : 'OPEN', reason: null };
  }

  /** What `matchOrders` takes from an order that trades `lots` for `value` micro-units. */
  function feeOf(r: PlaceRequest, lots: bigint, value: bigint): bigint {
    const [size, worth] = [lots * MICRO_PER_LOT * CHAIN, value * CHAIN];
    const [making, taking] = r.order.side === 0 ? [worth, size] : [size, worth];
    return calculateFee(BigInt(r.feeRateBps), size, making, taking, r.order.side) / CHAIN;
  }
  /** The taker pays for each settlement record as a whole; its fills share that by their tokens. */
  function charge(r: PlaceRequest, fills: readonly ModelFill[]): void {
    for (let from = 0; from < fills.length; from += SETTLEMENT_MAKERS) {
      const settled = fills.slice(from, from + SETTLEMENT_MAKERS);
      const lots = sum(settled.map((fill) => fill.lots));
      // A BUY of exact size is settled at its own limit and refunded; the others at what they paid or got.
      const exact = r.order.side === 0 && !isBudget(r);
      const due = feeOf(
        r,
        lots,
        exact ? lots * limitOf(r) : sum(settled.map((fill) => fill.lots * fill.price)),
      );
      let soFar = 0n;
      for (const fill of settled) {
        fill.takerFee = (due * (soFar + fill.lots)) / lots - (due * soFar) / lots;
        soFar += fill.lots;
        fill.makerFee = feeOf(fill.maker.request, fill.lots, fill.lots * limitOf(fill.maker.request));
      }
    }
  }

  /** One side of a fill: it pays from `free`, gets what is left of its proceeds, and the rest is the fee account's. */
  function trade(r: PlaceRequest, lots: bigint, price: bigint, fee: bigint, from: 'free' | 'reserved'): void {
    const [value, size, mine] = [lots * price, lots * MICRO_PER_LOT, tokens(r, r.maker)];
    const cash = account('cash', r.maker);
    if (r.order.side === 0) {
      cash[from] -= value;
      mine.free += size - fee;
      tokens(r, FEE_ACCOUNT).free += fee;
    } else {
      mine[from] -= size;
      cash.free += value - fee;
      account('cash', FEE_ACCOUNT).free += fee;
    }
  }

  function settle(m: ModelMarket, taker: ModelOrder, fills: readonly ModelFill[], tradeMs: number): void {
    for (const { maker, lots, price, type, takerFee, makerFee } of fills) {
      trade(maker.request, lots, limitOf(maker.request), makerFee, 'reserved');
      trade(taker.request, lots, price, takerFee, 'free');
      maker.filled += lots;
      maker.quote += lots * limitOf(maker.request);
      maker.status = remaining(maker) === 0n ? 'FILLED' : 'PARTIALLY_FILLED';
      Object.assign(maker, { updatedMs: taker.createdMs, fillMs: tradeMs, fillSequence: m.sequence });
      m.volume += lots * price;
      m.lastPrice = yesPrice(maker.request);
      m.lastMs = tradeMs;
      if (type !== 'COMPLEMENTARY') m.openInterest += (type === 'MINT' ? lots : -lots) * MICRO_PER_LOT;
    }
    m.resting = m.resting.filter((o) => remaining(o) > 0n);
  }

  function place(r: PlaceRequest, nowMs: number): Answer {
    const known = orders.get(r.orderHash);
    if (known) return { code: 'REPLAYED', order: known };
    const refusal = objection(r, nowMs);
    if (refusal) return refusal;
    const m = market(r.marketId);
    const plan = walk(r, nowMs);
    if (plan.stale.length > staleMax) {
      expireIn(m.id, plan.stale, nowMs);
      return place(r, nowMs);
    }
    const outcome = verdict(r, plan);
    if ('code' in outcome) return outcome;
    charge(r, plan.fills);
    const [filled, size] = [taken(plan), BigInt(r.order.sizeLots)];
    const sequence = m.sequence + 1;
    const tradeMs = plan.fills.length > 0 ? Math.max(nowMs, m.lastMs) : 0;
    const order: ModelOrder = {
      ...{ request: r, ...outcome, createdMs: nowMs, updatedMs: nowMs, sequence },
      ...{ size: isBudget(r) && filled > size ? filled : size, filled, quote: spent(plan) },
      ...{ fillMs: tradeMs, fillSequence: tradeMs && sequence },
    };
    if (r.dryRun) return { code: 'BOOKED', order, fills: plan.fills };
    m.sequence = sequence;
    orders.set(r.orderHash, order);
    settle(m, order, plan.fills, tradeMs);
    retire(m, plan.stale, 'EXPIRED', 'EXPIRED', nowMs);
    retire(m, plan.stopped, 'CANCELLED', 'SELF_TRADE', nowMs);
    if (order.status === 'OPEN' || order.status === 'PARTIALLY_FILLED') {
      m.resting.push(order);
      source(r).free -= bound(r, remaining(order));
      source(r).reserved += bound(r, remaining(order));
    }
    const makers = [...plan.fills.map((fill) => fill.maker), ...plan.stale, ...plan.stopped];
    emit(plan.fills.length > 0 ? 'TRADE' : 'ORDER', m.id, [r.orderHash, ...hashes(makers)]);
    return { code: 'BOOKED', order, fills: plan.fills };
  }
  const hashes = (list: readonly ModelOrder[]): string[] => list.map((o) => o.request.orderHash);

  /** One result per hash: the order as it stands when it is this wallet's here, and whether this call cancelled it. */
  function cancel(id: string, maker: string, wanted: readonly string[], reason: string, nowMs: number) {
    const m = market(id);
    const list = m.resting.filter((o) => wanted.includes(o.request.orderHash) && o.request.maker === maker);
    leave(m, list, 'CANCEL', 'CANCELLED', reason, nowMs);
    return wanted.map((hash) => {
      const order = orders.get(hash);
      const mine = order && order.request.maker === maker && order.request.marketId === id ? order : null;
      return { order: mine, cancelled: mine !== null && list.includes(mine) };
    });
  }
  /** A command of its own, when there is anything to do. */
  function leave(
    m: ModelMarket,
    list: ModelOrder[],
    kind: Emitted['kind'],
    status: string,
    reason: string,
    at: number,
  ) {
    if (list.length === 0) return;
    m.sequence++;
    retire(m, list, status, reason, at);
    emit(kind, m.id, hashes(list));
  }
  const expireIn = (id: string, list: ModelOrder[], nowMs: number): void =>
    leave(market(id), list, 'EXPIRE', 'EXPIRED', 'EXPIRED', nowMs);

  /** Oldest first over all markets; one command for each market touched. Returns how many. */
  function expire(most: number, nowMs: number): number {
    const due = [...markets.values()]
      .flatMap((m) => m.resting.filter((o) => isExpired(o.request, nowMs)))
      .sort(
        (a, b) => a.request.expirationSec - b.request.expirationSec || (hashes([a]) < hashes([b]) ? -1 : 1),
      )
      .slice(0, most);
    const touched = new Set(due.map((o) => o.request.marketId));
    for (const id of touched) {
      expireIn(
        id,
        due.filter((o) => o.request.marketId === id),
        nowMs,
      );
    }
    return due.length;
  }

  /** Splits (above zero) or merges (below zero) full sets. */
  function convert(id: string, who: string, sets: bigint, operation: string): Answer {
    const m = markets.get(id);
    if (!m) return { code: 'MARKET_NOT_FOUND', detail: [] };
    if (operations.has(operation)) return { code: 'OK', detail: [] };
    if (m.status !== 'OPEN') return { code: 'MARKET_NOT_OPEN', detail: [m.status] };
    const held = [account('cash', who), account(`${id}0`, who), account(`${id}1`, who)] as const;
    const names = ['COLLATERAL', 'YES', 'NO'];
    for (const [i, { free }] of held.entries()) {
      const needed = i === 0 ? sets : -sets;
      if (needed > free) return { code: 'INSUFFICIENT_BALANCE', detail: [needed, free, names[i] ?? ''] };
    }
    held[0].free -= sets;
    held[1].free += sets;
    held[2].free += sets;
    m.openInterest += sets;
    operations.add(operation);
    emit('BALANCE', id, [], [who]);
    return { code: 'OK', detail: [] };
  }

  function credit(who: string, amount: bigint, nowMs: number): Answer {
    const wait = (faucet.get(who) ?? 0) + FAUCET_MS - nowMs;
    if (wait > 0) return { code: 'RATE_LIMITED', detail: [wait] };
    faucet.set(who, nowMs);
    account('cash', who).free += amount;
    emit('BALANCE', '--------', [], [who]);
    return { code: 'OK', detail: [] };
  }

  function move(id: string, to: string, from: readonly string[]): Answer {
    const m = market(id);
    if (m.status === to) return { code: 'OK', detail: [] };
    if (!from.includes(m.status)) return { code: 'MARKET_NOT_OPEN', detail: [m.status] };
    m.status = to;
    m.sequence++;
    emit('MARKET', id, []);
    return { code: 'OK', detail: [] };
  }

  /** A bounded step of emptying the book of a market that is over: bids first, best first. Returns how many. */
  function clear(id: string, most: number, nowMs: number): number {
    const m = market(id);
    if (['DRAFT', 'OPEN', 'PAUSED'].includes(m.status)) return 0;
    const bids = m.resting.filter((o) => isBid(o.request)).sort(byPriority);
    const asks = m.resting.filter((o) => !isBid(o.request)).sort(byPriority);
    const list = [...bids, ...asks].slice(0, most);
    leave(m, list, 'CANCEL', 'CANCELLED', 'MARKET_CLOSED', nowMs);
    return list.length;
  }

  function addMarket(id: string): void {
    const start = { status: 'OPEN', sequence: 1, lastPrice: null, lastMs: 0, volume: 0n, openInterest: 0n };
    markets.set(id, { id, ...start, resting: [] });
    emit('MARKET', id, []);
  }
  /** One side of the Yes book in priority. */
  const side = (id: string, bids: boolean): ModelOrder[] =>
    market(id)
      .resting.filter((o) => isBid(o.request) === bids)
      .sort(byPriority);

  const verbs = { addMarket, place, cancel, expire, expireIn, convert, credit, move, clear };
  return { ...verbs, market, account, side, orders, markets, emitted };
}
