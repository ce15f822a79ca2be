import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { Refusal } from '../../../src/exchange/errors';
import type { OrderType, Reason } from '../../../src/exchange/status';
import { lots, micro, pips } from '../../../src/exchange/units';
import { createEngine, type Engine, type PlaceReply, type PlaceRequest } from '../../../src/store/engine';
import { shardKeys } from '../../../src/store/keys';
import { decodeFills, type Fill, hashBytes } from '../../../src/store/records';
import { createScripts, type RunScript } from '../../../src/store/scripts';
import { type Answer, createModel, type Model, type ModelFill, type ModelOrder } from '../../model/exchange';
import {
  check,
  checkFills,
  checkRecord,
  checkState,
  checkToldLevels,
  extraOf,
  fillsOf,
  type Ledger,
  levelsOf,
  Mismatch,
} from './compare';
import type { Operation, Place, World } from './operations';
import { CLOCK_KEY, FAKE_CLOCK, type Patch, patchedScripts, staleMaxPatch } from './scripts';
import { readState } from './stored';

/**
 * Plays operations on the engine and on the model side by side and compares every reply and the whole stored state
 * after each. Unless `realTime`, the scripts read their clock from a key, so that a run repeats exactly and expiry can
 * be met to the millisecond.
 */
export interface RunOptions {
  readonly redis: Redis;
  /** Bugs planted in the scripts under test. */
  readonly patches?: readonly Patch[];
  readonly realTime?: boolean;
}

/** How often what happened, so that a fuzz that meets nothing is noticed. */
export type Tally = Map<string, number>;

export class Failure extends Error {
  constructor(
    readonly at: number,
    readonly operation: Operation,
    readonly reason: Mismatch,
  ) {
    super(`operation ${at}: ${JSON.stringify(operation)}\n${reason.message}`);
  }
}

const START_MS = 1_800_000_000_500;

export async function runWorld(
  world: World,
  operations: readonly Operation[],
  options: RunOptions,
): Promise<Tally> {
  const run = await createRun(world, options);
  for (const [at, operation] of operations.entries()) {
    try {
      await run.step(operation);
    } catch (error) {
      const reason =
        error instanceof Mismatch ? error : new Mismatch('script error', 'an answer', String(error));
      throw new Failure(at, operation, reason);
    }
  }
  try {
    await run.finish();
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    throw new Failure(operations.length, { kind: 'clock', ms: 0 }, error);
  }
  return run.tally;
}

const address = (wallet: number): string => `0x${String(wallet + 1).repeat(40)}`;
const hashOf = (seed: number, id: number): string =>
  `0x${createHash('sha256').update(`${seed}/${id}`).digest('hex')}`;

async function createRun(world: World, { redis, patches = [], realTime = false }: RunOptions) {
  await redis.flushall();
  let fakeMs = START_MS;
  let repliedMs = START_MS;
  const setClock = async (ms: number): Promise<void> => {
    fakeMs = ms;
    if (!realTime) await redis.set(CLOCK_KEY, ms);
  };
  await setClock(START_MS);
  const bound = world.staleMax === 200 ? [] : [staleMaxPatch(world.staleMax)];
  const sources = patchedScripts([...(realTime ? [] : [FAKE_CLOCK]), ...bound, ...patches]);
  const scripts = createScripts(redis, sources);
  const runScript: RunScript = async (name, keys, args) => {
    const reply = await scripts(name, keys, args);
    const now = Array.isArray(reply) && Buffer.isBuffer(reply[0]) ? Number(reply[1]) : Number.NaN;
    if (now > 0) repliedMs = now;
    return reply;
  };
  const keys = shardKeys();
  const { grantMicro, makersMax, staleMax } = world;
  const engine = createEngine({ run: runScript, grantMicro: micro(grantMicro), makersMax });
  const model = createModel({ grantMicro, makersMax, staleMax });
  const addresses = Array.from({ length: world.wallets }, (_, i) => address(i));
  const ledger: Ledger = { addresses, booked: new Map(), matches: new Map(), emitted: 0, granted: 0n };
  const tally: Tally = new Map();
  const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);
  const requests = new Map<number, PlaceRequest>();
  const chains = new Map<string, Fill[]>();
  const marketIds = world.markets.map(({ id }) => id);
  const marketId = (index: number): string => marketIds[index] ?? '';

  for (const id of marketIds) {
    const names = { id, conditionId: `0x${id}`, slug: `slug-${id}` };
    await engine.createMarket(names, '{}', 'OPEN');
    model.addMarket(id);
  }
  ledger.emitted = model.emitted.splice(0).length;

  /** What the engine says now is; scripts that do not reply with it tell it in the outbox. */
  const now = (): number => (realTime ? repliedMs : fakeMs);
  async function toldNow(): Promise<number> {
    if (!realTime) return fakeMs;
    const state = await readState(runScript, keys, { markets: [], wallets: [], hashes: [], news: 1 });
    return state.news[0]?.timestampMs ?? 0;
  }

  function requestOf(op: Place): PlaceRequest {
    const { tickPips, lotLots, feeRateBps, id } = world.markets[op.market] ?? {
      tickPips: 1,
      lotLots: 1,
      feeRateBps: 0,
      id: '',
    };
    const maker = address(op.wallet);
    const price = Math.max(op.pips, op.side === 0 ? tickPips : 0);
    const size = 'lots' in op.size ? op.size.lots : affordable(op, id, lotLots) + op.size.all * lotLots;
    const isBudget = op.type === 'MARKET' && op.side === 0;
    const sizeLots = Math.max(size, lotLots);
    const least = Math.max(Math.floor((sizeLots * op.least) / lotLots) * lotLots, lotLots);
    const second = Math.floor(now() / 1000);
    return {
      ...{ marketId: id, orderHash: hashOf(world.seed, op.id), maker, orderType: op.type },
      order: {
        ...{
          side: op.side,
          outcome: op.outcome,
          pricePips: pips(price),
          sizeLots: lots(isBudget ? least : sizeLots),
        },
        budgetMicro: micro(isBudget ? sizeLots * price + op.extra : 0),
      },
      ...{
        selfTradePrevention: op.prevention,
        nonce: op.nonce,
        feeRateBps,
        lotLots: lots(lotLots),
        dryRun: op.dryRun,
      },
      expirationSec: op.expires === null ? 0 : second + op.expires,
      deadlineMs: op.deadline === null ? 0 : now() + op.deadline,
      clientOrderId: op.id % 3 === 0 ? `client-${op.id}` : null,
      signed: createHash('sha256').update(String(op.id)).digest(),
    };
  }
  function affordable(op: Place, id: string, lotLots: number): number {
    const asset = op.side === 0 ? 'cash' : `${id}${op.outcome}`;
    const { free } = model.account(asset, address(op.wallet));
    const unit = BigInt(lotLots) * (op.side === 0 ? BigInt(Math.max(op.pips, 1)) : 10_000n);
    return Number(free / unit) * lotLots;
  }

  /** The engine's answer or refusal, beside the model's. */
  async function both<T>(
    act: () => Promise<T>,
    ask: () => Answer,
  ): Promise<{ got: T | null; expected: Answer }> {
    let got: T | null = null;
    let refusal: Refusal | null = null;
    try {
      got = await act();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusal = error;
    }
    const expected = ask();
    count(expected.code);
    if ('detail' in expected && expected.code !== 'OK') {
      check('refusal', expected.code, refusal?.code ?? 'none');
      check(
        `extra of ${expected.code}`,
        JSON.stringify(extraOf(expected.code, expected.detail)),
        JSON.stringify(refusal?.extra),
      );
    } else {
      check('refusal', 'none', refusal?.code ?? 'none');
    }
    return { got, expected };
  }

  async function place(request: PlaceRequest): Promise<void> {
    const { got, expected } = await both<PlaceReply>(
      () => engine.place(request),
      () => model.place(request, now()),
    );
    if (!got || 'detail' in expected) return;
    check('replayed', expected.code === 'REPLAYED', got.replayed);
    checkRecord('reply', expected.order, got.record);
    const fills = 'fills' in expected ? expected.fills : [];
    checkFills('reply fills', fillsOf(expected.order, fills), got.fills);
    if (expected.code === 'BOOKED' && !request.dryRun) remember(expected.order, fills);
  }
  function remember(order: ModelOrder, fills: readonly ModelFill[]): void {
    const { maker, marketId: id } = order.request;
    ledger.booked.set(maker, (ledger.booked.get(maker) ?? 0) + 1);
    count(`${order.request.orderType} ${order.status}${order.reason ? ` ${order.reason}` : ''}`);
    if (fills.length === 0) return;
    const last = fillsOf(order, fills);
    ledger.matches.set(id, { count: (ledger.matches.get(id)?.count ?? 0) + 1, last });
    if (fills.length > 50) count('more than 50 makers');
    last.forEach((fill, i) => {
      count(fill.matchType);
      if (fills[i]?.maker.request.maker === maker) count('self trade');
      for (const hash of new Set([fill.takerHash, fill.makerHash]))
        chains.set(hash, [...(chains.get(hash) ?? []), fill]);
    });
  }

  async function cancel(id: string, maker: string, hashes: readonly string[], reason: Reason): Promise<void> {
    if (hashes.length === 0) return;
    const got = await engine.cancelMany(id, maker, hashes, reason);
    const expected = model.cancel(id, maker, hashes, reason ?? '', now());
    check('sequence of a cancel', model.market(id).sequence, got.sequence);
    expected.forEach(({ order, cancelled }, i) => {
      count(cancelled ? 'cancelled' : 'not cancelled');
      check('cancelled', cancelled, got.results[i]?.cancelled);
      checkRecord('reply to a cancel', order, got.results[i]?.record ?? null);
    });
  }

  function setsOf(op: Operation & { kind: 'convert' }): number {
    const who = address(op.wallet);
    const id = marketId(op.market);
    const yes = model.account(`${id}0`, who).free;
    const no = model.account(`${id}1`, who).free;
    if (op.sets === 'all') return -Number(yes < no ? yes : no) || 1;
    if (op.sets === 'none') return Number(model.account('cash', who).free) || 1;
    if (op.sets === 'more') return Number(model.account('cash', who).free) + 1;
    return op.sets;
  }

  async function tick(ms: number | 'before' | 'at'): Promise<void> {
    if (realTime) return;
    const seconds = marketIds.flatMap((id) => model.market(id).resting.map((o) => o.request.expirationSec));
    const next = seconds.filter((second) => second * 1000 > fakeMs).sort((a, b) => a - b)[0];
    if (typeof ms === 'number') await setClock(fakeMs + ms);
    else if (next) await setClock(Math.max(fakeMs, next * 1000 - (ms === 'before' ? 1 : 0)));
  }

  async function perform(op: Operation): Promise<void> {
    switch (op.kind) {
      case 'place': {
        const request = requestOf(op);
        requests.set(op.id, request);
        return place(request);
      }
      case 'again': {
        const request = requests.get(op.of);
        return request && place(resent(request, op.type, op.dryRun));
      }
      case 'cancel': {
        const [id, who] = [marketId(op.market), address(op.wallet)];
        const mine = model.market(id).resting.filter((o) => o.request.maker === who);
        const hashes =
          op.of === 'all' ? mine.map((o) => o.request.orderHash) : op.of.map((n) => hashOf(world.seed, n));
        return cancel(id, who, hashes, op.reason);
      }
      case 'expire': {
        const { expired, waiting } = await engine.expire(op.most);
        const expected = model.expire(op.most, await toldNow());
        if (expected > 0) count('expired by the sweep');
        check('expired', expected, expired);
        return check('more to expire', expected === op.most, waiting);
      }
      case 'clock':
        return tick(op.ms);
      case 'convert': {
        const [id, who, sets] = [marketId(op.market), address(op.wallet), setsOf(op)];
        const name = `operation-${op.id}`;
        await both(
          () => engine.convert(id, who, micro(sets), name),
          () => model.convert(id, who, BigInt(sets), name),
        );
        return;
      }
      case 'credit': {
        const who = address(op.wallet);
        const { expected } = await both(
          () => engine.credit(who, micro(op.micro)),
          () => model.credit(who, BigInt(op.micro), now()),
        );
        if (expected.code === 'OK') ledger.granted += BigInt(op.micro);
        return;
      }
      case 'move': {
        const id = marketId(op.market);
        await both(
          () => engine.moveMarket(id, op.to, op.from),
          () => model.move(id, op.to, op.from),
        );
        return;
      }
      case 'clear': {
        const { cancelled, left } = await engine.clearBook(marketId(op.market), op.most);
        const expected = model.clear(marketId(op.market), op.most, await toldNow());
        if (expected > 0) count('cleared');
        check('cleared', expected, cancelled);
        return check('more to clear', expected === op.most, left);
      }
    }
  }

  async function step(op: Operation): Promise<void> {
    const before = new Map(marketIds.map((id) => [id, levelsOf(model, id)]));
    const retired = model.emitted.length;
    check('no news before', 0, retired);
    await perform(op);
    const hashes = [...new Set(model.emitted.flatMap(({ orders }) => orders))];
    const wanted = { markets: marketIds, wallets: addresses, hashes, news: model.emitted.length };
    for (const { kind } of model.emitted) count(`outbox ${kind}`);
    const told = model.emitted.length > 0 ? await toldNow() : now();
    const stored = await readState(runScript, keys, wanted);
    checkState(world, model, stored, ledger, told);
    checkToldLevels(model, stored, before);
    hashes.forEach((hash, i) => {
      checkRecord('stored order', model.orders.get(hash) ?? null, stored.records[i] ?? null);
    });
  }

  /** Every order ever booked, and the chain of its fills. */
  async function finish(): Promise<void> {
    const all = [...model.orders.keys()];
    for (let at = 0; at < all.length; at += 500) {
      const hashes = all.slice(at, at + 500);
      const stored = await readState(runScript, keys, { markets: [], wallets: [], hashes, news: 0 });
      await Promise.all(
        hashes.map(async (hash, i) => {
          checkRecord('stored order', model.orders.get(hash) ?? null, stored.records[i] ?? null);
          checkFills('chain of fills', chains.get(hash) ?? [], await chainOf(hash));
        }),
      );
    }
  }
  async function chainOf(hash: string): Promise<Fill[]> {
    const reply = await scripts('read_fills', [keys.orders], [keys.prefix, hashBytes(hash), '0', '0']);
    const entries = (reply as unknown[]).slice(3) as [Buffer, Buffer, Buffer][];
    const matches = entries.map(([ms, sequence, packed]) =>
      decodeFills(Number(ms), Number(sequence), packed),
    );
    return matches
      .reverse()
      .flatMap((fills) => fills.filter((f) => f.takerHash === hash || f.makerHash === hash));
  }

  return { step, finish, tally };
}

/** The same order once more, perhaps with another type. */
function resent(request: PlaceRequest, type: OrderType | null, dryRun: boolean): PlaceRequest {
  if (type === null) return { ...request, dryRun };
  const { order } = request;
  const isBudget = type === 'MARKET' && order.side === 0;
  const budgetMicro = micro(isBudget ? order.budgetMicro || order.sizeLots * order.pricePips : 0);
  const price = pips(type === 'MARKET' ? order.pricePips : Math.max(order.pricePips, 1));
  return { ...request, orderType: type, dryRun, order: { ...order, pricePips: price, budgetMicro } };
}

export type { Engine, Model };
