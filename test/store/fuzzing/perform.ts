import { Refusal } from '../../../src/exchange/errors';
import type { Reason } from '../../../src/exchange/status';
import { micro } from '../../../src/exchange/units';
import { hashHex } from '../../../src/store/records/order';
import type { CancelOneReply } from '../../../src/store/verbs/cancels';
import {
  NotReplaceable,
  type PlaceReply,
  type PlaceRequest,
  type ReplaceReply,
} from '../../../src/store/verbs/place';
import type { Answer } from '../../model/exchange';
import {
  type BookedFill,
  MICRO_PER_LOT,
  type ModelOrder,
  type Refused,
  refuse,
  remaining,
} from '../../model/matching';
import { both } from './both';
import { check, checkFills, checkRecord, fillsOf } from './compare';
import type { Operation, Place } from './operations';
import { performStep } from './perform-steps';
import { addressOf, atNonce, hashOf, marketOf, requestFor, resent } from './requests';
import type { SideBySide } from './side-by-side';
import { performSweep } from './sweeps';

/** One operation on the engine and on the model; throws a Mismatch when their answers differ. */
export async function perform(stage: SideBySide, op: Operation): Promise<void> {
  switch (op.kind) {
    case 'place':
      return place(stage, draw(stage, op));
    case 'replace':
      return replace(stage, op);
    case 'again': {
      const request = stage.requests.get(op.of);
      return request && place(stage, resent(request, op.type, op.dryRun));
    }
    case 'cancel':
      return cancel(stage, op);
    case 'expire':
      return expire(stage, op.most);
    case 'clock':
      return tick(stage, op.ms);
    case 'convert':
      return convert(stage, op);
    case 'credit':
      return credit(stage, addressOf(op.wallet), op.micro);
    case 'raise':
      return raise(stage, addressOf(op.wallet), `raise-${op.id}`);
    case 'invalidate':
      return invalidate(stage, op);
    case 'sweep':
      return performSweep(stage, op);
    default:
      return performStep(stage, op);
  }
}

const FAUCET_MS = 3_600_000;

type Of<K extends Operation['kind']> = Operation & { readonly kind: K };

/** The request for an operation; `freed` micro-units of collateral and of tokens are free besides. */
function draw(stage: SideBySide, op: Place, freed: readonly [bigint, bigint] = [0n, 0n]): PlaceRequest {
  const drawn = requestFor(stage.world, op, sizeOf(stage, op, freed), stage.now());
  const request = atNonce(drawn, stage.model.nonce(drawn.maker), op);
  stage.requests.set(op.id, request);
  return request;
}

function sizeOf({ model, world }: SideBySide, op: Place, freed: readonly [bigint, bigint]): number {
  const { id, lotLots } = marketOf(world, op.market);
  if ('lots' in op.size) return Math.max(op.size.lots, lotLots);
  const { free } = model.account(op.side === 0 ? 'cash' : `${id}${op.outcome}`, addressOf(op.wallet));
  const unit = BigInt(lotLots) * (op.side === 0 ? BigInt(Math.max(op.pips, 1)) : 10_000n);
  return Math.max((Number((free + freed[op.side]) / unit) + op.size.all) * lotLots, lotLots);
}

async function place(stage: SideBySide, request: PlaceRequest): Promise<void> {
  const { engine, model } = stage;
  const { got, expected } = await both<PlaceReply>(
    stage,
    () => engine.place(request),
    () => model.place(request, stage.now()),
  );
  if (got && !('detail' in expected)) checkBooked(stage, request, expected, got);
}

function checkBooked(
  stage: SideBySide,
  request: PlaceRequest,
  expected: Exclude<Answer, Refused>,
  got: PlaceReply,
): void {
  check('replayed', expected.code === 'REPLAYED', got.replayed);
  // A dry run shows the first step of an order of several.
  const shown = request.dryRun ? { ...got.record, isContinuing: false } : got.record;
  checkRecord('reply', expected.order, shown);
  const fills = 'fills' in expected ? expected.fills : [];
  checkFills('reply fills', fillsOf(expected.order, fills), got.fills);
  if (expected.code === 'BOOKED' && !request.dryRun) remember(stage, expected.order, fills);
}

/** The old order may be in any state, and of any wallet; its reserve is free if it is the wallet's and rests. */
async function replace(stage: SideBySide, op: Of<'replace'>): Promise<void> {
  const { engine, model, world, requests, count } = stage;
  const oldHash = hashOf(world, op.of);
  const before = model.orders.get(oldHash) ?? null;
  const [rest, price] = [before ? remaining(before) : 0n, BigInt(before?.request.order.pricePips ?? 0)];
  const isBuy = before?.request.order.side === 0;
  const request =
    requests.get(op.place.id) ??
    draw(stage, op.place, isBuy ? [rest * price, 0n] : [0n, rest * MICRO_PER_LOT]);
  const { got, expected } = await both<ReplaceReply>(
    stage,
    () =>
      engine.replace(request, oldHash).catch((error: unknown) => {
        if (error instanceof NotReplaceable) checkRecord('not replaceable', before, error.record);
        throw error;
      }),
    () => model.place(request, stage.now(), oldHash),
  );
  if (!got || 'detail' in expected) return;
  checkBooked(stage, request, expected, got);
  count(expected.code === 'BOOKED' ? 'replaced' : 'replaced before');
  if (!request.dryRun) return checkRecord('replaced order', model.orders.get(oldHash) ?? null, got.old);
  check('would be replaced', 'REPLACED', got.old?.reason);
}

/** Stores the data with which the stored state is compared later. */
export function remember(
  { ledger, chains, count }: Pick<SideBySide, 'ledger' | 'chains' | 'count'>,
  order: ModelOrder,
  fills: readonly BookedFill[],
): void {
  const { maker, marketId, orderType } = order.request;
  ledger.booked.set(maker, (ledger.booked.get(maker) ?? 0) + 1);
  count(`${orderType} ${order.status}${order.reason ? ` ${order.reason}` : ''}`);
  if (fills.length === 0) return;
  const booked = fillsOf(order, fills);
  const numbers = new Set(booked.map(({ sequence }) => sequence));
  const last = booked.filter(({ sequence }) => sequence === booked.at(-1)?.sequence);
  ledger.matches.set(marketId, { count: (ledger.matches.get(marketId)?.count ?? 0) + numbers.size, last });
  if (numbers.size > 1) count(`${orderType} of several steps`);
  if (fills.length > 50) count('more than 50 makers');
  for (const [i, fill] of booked.entries()) {
    count(fill.matchType);
    if (fills[i]?.maker.request.maker === maker) count('self trade');
    for (const hash of [fill.takerHash, fill.makerHash])
      chains.set(hash, [...(chains.get(hash) ?? []), fill]);
  }
}

async function cancel(stage: SideBySide, op: Of<'cancel'>): Promise<void> {
  const { engine, model, world, toldNow, count } = stage;
  const { id } = marketOf(world, op.market);
  const who = addressOf(op.wallet);
  const hashes = op.of.map((n) => hashOf(world, n));
  if (op.one) return cancelOne(stage, op, hashes[0] ?? '');
  if (model.mode() === 'HALTED') {
    await both(
      stage,
      () => engine.cancelMany(id, who, hashes, op.reason as Reason),
      () => refuse('HALTED'),
    );
    return;
  }
  const got = await engine.cancelMany(id, who, hashes, op.reason as Reason);
  const expected = model.cancel(id, who, hashes, op.reason ?? '', await toldNow());
  check('sequence of a cancel', model.market(id).sequence, got.sequence);
  for (const [i, { order, cancelled }] of expected.entries()) {
    count(cancelled ? 'cancelled' : 'not cancelled');
    check('cancelled', cancelled, got.results[i]?.cancelled);
    checkRecord('reply to a cancel', order, got.results[i]?.record ?? null);
  }
}

async function cancelOne(stage: SideBySide, op: Of<'cancel'>, hash: string): Promise<void> {
  const { engine, model, world, toldNow, count } = stage;
  const who = addressOf(op.wallet);
  const here = op.one === 'here' ? marketOf(world, op.market).id : null;
  const id = here ?? model.orders.get(hash)?.request.marketId ?? marketOf(world, op.market).id;
  let got: CancelOneReply | null = null;
  const mine = model.market(id).resting.find((o) => o.request.orderHash === hash && o.request.maker === who);
  // An order that is already final is reported in any mode.
  const isHalted = model.mode() === 'HALTED' && mine !== undefined;
  let refusal: string | null = null;
  try {
    got = await engine.cancel(here, who, hash, op.reason as Reason);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refusal = error.code;
  }
  if (isHalted) {
    count('HALTED');
    return check('refusal of a cancel', 'HALTED', refusal);
  }
  if (refusal) check('refusal of a cancel', 'ORDER_NOT_FOUND', refusal);
  const [expected] = model.cancel(id, who, [hash], op.reason ?? '', await toldNow());
  count(expected?.cancelled ? 'one cancelled' : 'one not cancelled');
  checkRecord('reply to a cancel of one', expected?.order ?? null, got?.record ?? null);
  if (!got) return;
  check('cancelled one', expected?.cancelled, got.cancelled);
  check('sequence of a cancel of one', model.market(id).sequence, got.sequence);
}

async function expire({ engine, model, toldNow, count }: SideBySide, most: number): Promise<void> {
  const { expired, waiting } = await engine.expire(most);
  const expected = model.expire(most, await toldNow());
  if (expected > 0) count('expired by the sweep');
  check('expired', expected, expired);
  check('more to expire', expected === most, waiting);
}

/** Moves the clock to `ms` from now, or to the next expiration of a resting order, or just before it. */
async function tick(
  { model, marketIds, now, setClock }: SideBySide,
  ms: number | 'before' | 'at',
): Promise<void> {
  const seconds = marketIds.flatMap((id) => model.market(id).resting.map((o) => o.request.expirationSec));
  const next = seconds.filter((second) => second * 1000 > now()).sort((a, b) => a - b)[0];
  if (typeof ms === 'number') await setClock(now() + ms);
  else if (next) await setClock(Math.max(now(), next * 1000 - (ms === 'before' ? 1 : 0)));
}

async function convert(stage: SideBySide, op: Of<'convert'>): Promise<void> {
  const { engine, model, world } = stage;
  const { id } = marketOf(world, op.market);
  const who = addressOf(op.wallet);
  const free = (asset: string): number => Number(model.account(asset, who).free);
  const amounts = {
    all: () => -Math.min(free(`${id}0`), free(`${id}1`)),
    none: () => free('cash'),
    more: () => free('cash') + 1,
  };
  const sets = (typeof op.sets === 'number' ? op.sets : amounts[op.sets]()) || 1;
  const name = `operation-${op.id}`;
  await both(
    stage,
    () => engine.convert(id, who, micro(sets), name),
    () => model.convert(id, who, BigInt(sets), name),
  );
}

/** The model has no faucet: it only grants what the engine may grant. */
async function credit(stage: SideBySide, who: string, amount: number): Promise<void> {
  const { engine, model, ledger, faucet, now } = stage;
  const ask = (): Answer => {
    if (model.mode() === 'HALTED') return refuse('HALTED');
    const wait = (faucet.get(who) ?? 0) + FAUCET_MS - now();
    if (wait > 0) return refuse('RATE_LIMITED', wait);
    faucet.set(who, now());
    model.welcome(who);
    model.account('cash', who).free += BigInt(amount);
    const moves = [`FAUCET ${amount} 0 0`];
    const news = { market: '--------', sequence: 0, orders: [], wallets: [who], moves };
    model.emitted.push({ kind: 'BALANCE', ...news });
    ledger.granted += BigInt(amount);
    return refuse('OK');
  };
  await both(stage, () => engine.credit(who, micro(amount)), ask);
}

/** A repeated operation returns the nonce that it set. */
async function raise(stage: SideBySide, who: string, operation: string): Promise<void> {
  const { engine, model, raised, count } = stage;
  if (model.mode() === 'HALTED' && !raised.has(operation + who)) {
    await both(
      stage,
      () => engine.raiseNonce(who, operation + who),
      () => refuse('HALTED'),
    );
    return;
  }
  const { nonce: got, isReplay } = await engine.raiseNonce(who, operation + who);
  const before = raised.get(operation + who);
  check('raised before', before !== undefined, isReplay);
  if (before === undefined) model.raise(who);
  count(before === undefined ? 'raised' : 'raised before');
  check('raised nonce', before ?? model.nonce(who), got);
  raised.set(operation + who, got);
}

/** One step; the next one of this wallet continues there, whatever happened in between. */
async function invalidate(stage: SideBySide, op: Of<'invalidate'>): Promise<void> {
  const { engine, model, walks, toldNow, count } = stage;
  const who = addressOf(op.wallet);
  const walk = walks.get(who) ?? { nonce: model.nonce(who), from: undefined, after: null };
  if (model.mode() === 'HALTED') {
    await both(
      stage,
      () => engine.invalidate(who, walk.nonce, walk.from, op.most),
      () => refuse('HALTED'),
    );
    return;
  }
  const got = await engine.invalidate(who, walk.nonce, walk.from, op.most);
  const expected = model.invalidate(who, walk.nonce, walk.after, op.most, await toldNow());
  if (expected.invalidated > 0) count(expected.next ? 'invalidated in part' : 'invalidated');
  check('invalidated', expected.invalidated, got.invalidated);
  const place = got.next && hashHex(got.next.hash);
  check('more to invalidate', expected.next?.request.orderHash ?? null, place);
  if (got.next) walks.set(who, { ...walk, from: got.next, after: expected.next });
  else walks.delete(who);
}
