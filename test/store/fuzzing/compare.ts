import { MARKET_STATUSES } from '../../../src/exchange/market';
import { formatLots, formatMicro, formatPips } from '../../../src/exchange/units';
import type { OutboxEvent } from '../../../src/store/outbox/outbox';
import type { Fill, OrderRecord } from '../../../src/store/records/order';
import { FEE_ACCOUNT } from '../../model/accounts';
import type { Emitted, Model } from '../../model/exchange';
import { type BookedFill, isBid, type ModelOrder, remaining, yesPrice } from '../../model/matching';
import { check, Mismatch } from './check';
import { checkEnding, checkSupply, checkToDo } from './compare-ending';
import type { World } from './operations';
import type { StoredMarket, StoredState } from './stored';

export { check, Mismatch } from './check';

/** The expected stored order. */
export function recordOf(o: ModelOrder): OrderRecord {
  const { request } = o;
  const { side, outcome, pricePips } = request.order;
  const fixed = {
    orderHash: request.orderHash,
    marketId: request.marketId,
    maker: request.maker,
    side,
    outcome,
  };
  const numbers = { sizeLots: Number(o.size), filledLots: Number(o.filled), quoteMicro: Number(o.quote) };
  return {
    ...fixed,
    orderType: request.orderType,
    pricePips,
    ...numbers,
    status: o.status,
    reason: o.reason,
    createdAtMs: o.createdMs,
    updatedAtMs: o.updatedMs,
    sequence: o.sequence,
    expirationSec: request.expirationSec,
    clientOrderId: request.clientOrderId,
    fillMs: o.fillMs,
    fillSequence: o.fillSequence,
    fillCount: o.fillCount,
    isContinuing: false,
    signed: request.signed,
  } as OrderRecord;
}

export function fillsOf(taker: ModelOrder, fills: readonly BookedFill[]): Fill[] {
  const { orderHash, order } = taker.request;
  return fills.map(({ maker, tradeMs, sequence, index, ...fill }) => ({
    // The ids of matches stay ahead of a clock that was set back.
    tradeMs,
    matchedMs: tradeMs - taker.createdMs > 60_000 ? taker.createdMs : tradeMs,
    sequence,
    index,
    takerHash: orderHash,
    takerSide: order.side,
    takerOutcome: order.outcome,
    makerHash: maker.request.orderHash,
    pricePips: Number(fill.price),
    sizeLots: Number(fill.lots),
    matchType: fill.type,
    takerFeeMicro: Number(fill.takerFee),
    makerFeeMicro: Number(fill.makerFee),
  })) as Fill[];
}

/** The members that the engine's Refusal must have, for a refusal of the model. */
export function extraOf(code: string, detail: readonly (string | number | bigint)[]): unknown {
  const [first, second, asset] = detail;
  switch (code) {
    case 'INSUFFICIENT_BALANCE':
      return {
        required: formatMicro(BigInt(first ?? 0)),
        available: formatMicro(BigInt(second ?? 0)),
        asset,
      };
    case 'POST_ONLY_WOULD_CROSS':
      return { best: formatPips(Number(first)) };
    case 'FOK_NOT_FILLED':
      return { available: formatLots(Number(first)) };
    case 'INVALID_NONCE_VALUE':
      return { current: String(first) };
    case 'MARKET_NOT_OPEN':
      return { retryable: first === 'DRAFT' || first === 'PAUSED' };
    case 'RATE_LIMITED':
      return { retryAfterMs: Number(first), scope: 'faucet' };
    default:
      return {};
  }
}

const flat = (value: unknown): string => JSON.stringify(value);

export function checkRecord(name: string, expected: ModelOrder | null, got: OrderRecord | null): void {
  if (expected === null || got === null) {
    check(name, expected && 'a record', got && 'a record');
    return;
  }
  const wanted = recordOf(expected);
  for (const key of Object.keys(got) as (keyof OrderRecord)[]) {
    const same = key === 'signed' ? wanted.signed.equals(got.signed) : wanted[key] === got[key];
    if (!same) throw new Mismatch(`${name}: ${key}`, { ...wanted, signed: '' }, { ...got, signed: '' });
  }
}

export function checkFills(name: string, expected: readonly Fill[], got: readonly Fill[]): void {
  check(`${name}: number`, expected.length, got.length);
  expected.forEach((fill, i) => {
    for (const [key, value] of Object.entries(fill)) {
      if (got[i]?.[key as keyof Fill] !== value) throw new Mismatch(`${name}: ${key}`, fill, got[i]);
    }
  });
}

/** The orders that the harness has seen booked, and the matches by market. */
export interface Ledger {
  readonly addresses: readonly string[];
  readonly booked: Map<string, number>;
  readonly matches: Map<string, { count: number; last: Fill[] }>;
  /** Stored sections that agreed with the model; they are not compared again while both are unchanged. */
  readonly verified: WeakSet<object>;
  emitted: number;
  granted: bigint;
}

/** Compares the whole stored state with the model. */
export function checkState(
  world: World,
  model: Model,
  stored: StoredState,
  ledger: Ledger,
  nowMs: number,
): void {
  const { verified } = ledger;
  // The model changes a market only together with an entry for it.
  const changed = new Set(model.emitted.map(({ market }) => market));
  world.markets.forEach(({ id }, i) => {
    const market = stored.markets[i];
    if (market && (changed.has(id) || !verified.has(market))) checkMarket(model, id, market, ledger);
  });
  const sections = [stored.money, ...stored.markets, ...stored.wallets];
  if (changed.size > 0 || sections.some((section) => !verified.has(section))) {
    checkMoney(world, model, stored, ledger);
    checkConservation(stored);
    checkToDo(model, stored.money);
    checkIndexes(world, model, stored, ledger);
  }
  check('number of orders', model.orders.size, stored.orderCount);
  checkOutbox(stored, model, ledger, nowMs);
  for (const section of sections) verified.add(section);
}

/** Open lots and orders of each level, counted from the resting orders. */
export function levelsOf(model: Model, id: string): Map<string, string> {
  const totals = new Map<string, [bigint, number]>();
  for (const o of model.market(id).resting) {
    const level = `${isBid(o.request) ? 'b' : 'a'}${yesPrice(o.request)}`;
    const [lots, orders] = totals.get(level) ?? [0n, 0];
    totals.set(level, [lots + remaining(o), orders + 1]);
  }
  return new Map([...totals].map(([level, [lots, orders]]) => [level, `${lots}/${orders}`]));
}

const text = (map: ReadonlyMap<string, unknown>): string =>
  flat([...map].sort(([a], [b]) => (a < b ? -1 : 1)));

export function checkMarket(model: Model, id: string, stored: StoredMarket, ledger: Ledger): void {
  const m = model.market(id);
  const field = (name: string): string | undefined => stored.fields.get(name);
  check('market status', m.status, MARKET_STATUSES[Number(field('st'))]);
  check('sequence', String(m.sequence), field('q'));
  for (const bids of [true, false]) {
    const expected = model
      .side(id, bids)
      .map((o) => [o.request.orderHash, Number(yesPrice(o.request)) * (bids ? -1 : 1)]);
    check(
      bids ? 'bids in priority' : 'asks in priority',
      flat(expected),
      flat(bids ? stored.bids : stored.asks),
    );
  }
  check('levels', text(levelsOf(model, id)), text(stored.levels));
  const liquidity = m.resting.reduce(
    (total, o) => total + remaining(o) * BigInt(o.request.order.pricePips),
    0n,
  );
  check('liquidity', liquidity.toString(), field('liq'));
  check('open interest', m.openInterest.toString(), field('oi'));
  checkEnding(model, id, stored);
  // The same money can trade any number of times; above 2^53 the engine's figure is rounded.
  if (m.volume <= BigInt(Number.MAX_SAFE_INTEGER)) check('volume', m.volume.toString(), field('vol'));
  check('last price', (m.lastPrice ?? 0n).toString(), field('lp'));
  check('time of the last match', m.lastMs.toString(), field('lt'));
  const matches = ledger.matches.get(id) ?? { count: 0, last: [] };
  check('matches', matches.count, stored.matches);
  checkFills('stored match', matches.last, stored.lastMatch);
}

function checkMoney(world: World, model: Model, stored: StoredState, { addresses, granted }: Ledger): void {
  const untouched = BigInt(world.grantMicro);
  let handedOut = granted;
  for (const who of [...addresses, FEE_ACCOUNT]) {
    const { free, reserved } = model.account('cash', who);
    const found = stored.money.cash.get(who);
    if (found && who !== FEE_ACCOUNT) handedOut += untouched;
    const start = who === FEE_ACCOUNT ? 0n : untouched;
    check(`nonce of ${who}`, model.nonce(who), stored.money.nonces.get(who) ?? 0);
    check(
      `collateral of ${who}`,
      `${free} free, ${reserved} reserved`,
      `${found?.[0] ?? start} free, ${found?.[1] ?? 0n} reserved`,
    );
    world.markets.forEach(({ id }, i) => {
      const [yes, no] = [model.account(`${id}0`, who), model.account(`${id}1`, who)];
      const tokens = stored.markets[i]?.tokens.get(who) ?? [0n, 0n, 0n, 0n];
      check(`tokens of ${who} in ${id}`, `${[yes.free, yes.reserved, no.free, no.reserved]}`, `${tokens}`);
    });
  }
  check('collateral handed out', handedOut, stored.money.granted);
}

/** From stored data alone. */
function checkConservation({ money, markets }: StoredState): void {
  const openInterest = markets.map(({ fields }) => BigInt(fields.get('oi') ?? 0));
  const all = [...money.cash.values()].flat().concat(openInterest);
  check(
    'conservation of collateral',
    money.granted,
    all.reduce((total, n) => total + n, 0n),
  );
  markets.forEach(checkSupply);
}

const byScore = (a: readonly [string, number], b: readonly [string, number]): number =>
  a[1] - b[1] || (a[0] < b[0] ? -1 : 1);

function checkIndexes(world: World, model: Model, stored: StoredState, { addresses, booked }: Ledger): void {
  const open = world.markets.flatMap(({ id }) => model.market(id).resting);
  const expiring = open.filter(({ request }) => request.expirationSec > 0);
  const expiries = expiring.map(({ request }) => [request.orderHash, request.expirationSec] as const);
  check('expiry index', flat(expiries.sort(byScore)), flat(stored.money.expiries));
  addresses.forEach((who, i) => {
    const mine = open.filter(({ request }) => request.maker === who);
    const ranks = mine.map((o) => [o.request.orderHash, o.createdMs * 1000 + (o.sequence % 1000)] as const);
    check(`open orders of ${who}`, flat(ranks.sort(byScore)), flat(stored.wallets[i]?.open));
    check(`number of orders of ${who}`, booked.get(who) ?? 0, stored.wallets[i]?.orders);
    const held = world.markets.filter((_, k) => stored.markets[k]?.tokens.has(who)).map(({ id }) => id);
    check(`markets held by ${who}`, flat(held.sort()), flat(stored.wallets[i]?.markets));
  });
}

function checkOutbox(stored: StoredState, model: Model, ledger: Ledger, nowMs: number): void {
  const news = model.emitted.splice(0);
  ledger.emitted += news.length;
  check('length of the outbox', ledger.emitted, stored.outboxLength);
  news.forEach((expected, i) => {
    const got = stored.news[i];
    const { kind, market, sequence, orders, wallets, moves = [] }: Emitted = expected;
    const found = got && {
      kind: got.kind,
      market: got.marketId,
      sequence: got.sequence,
      wallets: got.wallets,
    };
    check('outbox entry', flat({ kind, market, sequence, wallets }), flat(found));
    if (!got) return;
    const moved = got.moves.map((m) =>
      [m.reason, m.collateralMicro, m.yesMicro, m.noMicro, m.worth ?? []].flat().join(' '),
    );
    check('what moved', flat(moves), flat(moved));
    const lists = [orders, got.orderHashes].map((list) =>
      kind === 'ORDER' || kind === 'TRADE' ? list[0] : '',
    );
    check('taker first in the outbox entry', lists[0], lists[1]);
    check('orders of the outbox entry', flat([...orders].sort()), flat([...got.orderHashes].sort()));
    check('time of the outbox entry', nowMs, got.timestampMs);
    check(
      'match of the outbox entry',
      kind === 'TRADE' ? (model.market(market).lastMs ?? 0) : 0,
      got.tradeMs,
    );
  });
}

/**
 * Every level that changed must be in the entry, with its new value; `before` are the levels of one market before the
 * command.
 */
export function checkToldLevels(
  id: string,
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
  news: readonly OutboxEvent[],
): void {
  const told = new Map<string, string>();
  for (const entry of news) {
    if (entry.marketId !== id) continue;
    for (const { side, pricePips, sizeLots, orders } of entry.levels)
      told.set(side + pricePips, `${sizeLots}/${orders}`);
  }
  for (const level of new Set([...before.keys(), ...now.keys(), ...told.keys()])) {
    const changed = (before.get(level) ?? '0/0') !== (now.get(level) ?? '0/0');
    if (changed || told.has(level))
      check(`level ${level} in the outbox`, now.get(level) ?? '0/0', told.get(level));
  }
}
