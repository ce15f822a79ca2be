import { Redis } from 'ioredis';
import { Refusal } from '../../src/exchange/errors';
import { micro } from '../../src/exchange/units';
import type { RunningRedis } from '../../src/local/redis';
import { decodeEvent, type OutboxEvent } from '../../src/store/outbox/outbox';
import { createScripts } from '../../src/store/redis/scripts';
import type { CancelManyReply } from '../../src/store/verbs/cancels';
import { createEngine, type Engine } from '../../src/store/verbs/engine';
import type { PlaceReply, PlaceRequest, ReplaceReply } from '../../src/store/verbs/place';
import type { Sweep, SweepFilter, WalkPlace } from '../../src/store/verbs/sweeps';
import type { Answer, Booked } from '../model/exchange';
import type { ModelOrder } from '../model/matching';
import { startTestRedis } from '../support/redis';
import { sizeOf } from '../support/sample';
import { chooseSeed, tell } from '../support/telling';
import { checkFills, checkRecord, checkState, fillsOf } from './fuzzing/compare';
import { checkOrders } from './fuzzing/harness';
import { type Operation, operationsOf, type World, worldOf } from './fuzzing/operations';
import { remember } from './fuzzing/perform';
import { addressOf, hashOf, marketOf, requestFor, resent } from './fuzzing/requests';
import { createSideBySide, type SideBySide } from './fuzzing/side-by-side';
import { readState } from './fuzzing/stored';
import { filterOf } from './fuzzing/sweeps';

/**
 * Many concurrent submissions, replacements, cancels and sweeps of many wallets over two replicas, many of them twice. Then
 * the commands are replayed through the model in the order of their sequence numbers, which must produce the same fills,
 * books and balances (docs/use/interface.md, Sequence). `FUZZ_OPERATIONS=130000` runs more than 50,000 commands.
 */
const OPERATIONS = sizeOf('FUZZ_OPERATIONS', 1_500, 10_000);
const LIMIT_MS = 120_000 + OPERATIONS * 30;
const WALLETS = 12;
const IN_FLIGHT = 64;
const STEPS_MAX = 10_000;
const seed = chooseSeed('fuzz of two replicas');
/** Enough for everything, so that no refusal depends on the order between markets. */
const GRANT = 1e13;
const SETS = 1e12;

type Done =
  | { readonly kind: 'placed'; readonly request: PlaceRequest; readonly reply: PlaceReply }
  | {
      readonly kind: 'replaced';
      readonly request: PlaceRequest;
      readonly oldHash: string;
      readonly reply: ReplaceReply;
    }
  | {
      readonly kind: 'cancelled';
      readonly market: string;
      readonly maker: string;
      readonly hashes: readonly string[];
      readonly reply: CancelManyReply;
    }
  | { readonly kind: 'swept'; readonly maker: string; readonly filter: SweepFilter; readonly sweep: Sweep };

type Swept = Done & { readonly kind: 'swept' };

let server: RunningRedis;
let connections: Redis[];
beforeAll(async () => {
  server = await startTestRedis();
  connections = [new Redis(server.url), new Redis(server.url)];
});
afterAll(async () => {
  for (const connection of connections) connection.disconnect();
  await server.stop();
});

/** Sends everything, twice where the other connection should race, without waiting for earlier requests. */
async function playAll(world: World, engines: readonly Engine[], startMs: number): Promise<Done[]> {
  const done: Done[] = [];
  const requests = new Map<number, PlaceRequest>();
  const act = async (engine: Engine, op: Operation): Promise<void> => {
    if (op.kind === 'expire') await engine.expire(op.most);
    if (op.kind === 'place' || op.kind === 'again') {
      const request = requests.get(op.kind === 'place' ? op.id : op.of);
      if (!request) return;
      const sent = op.kind === 'again' ? resent(request, op.type, op.dryRun) : request;
      const reply = await engine.place(sent);
      if (!sent.dryRun) done.push({ kind: 'placed', request: sent, reply });
    }
    if (op.kind === 'replace') {
      const request = requests.get(op.place.id);
      if (!request) return;
      const oldHash = hashOf(world, op.of);
      const reply = await engine.replace(request, oldHash);
      if (!request.dryRun) done.push({ kind: 'replaced', request, oldHash, reply });
    }
    if (op.kind === 'sweep') {
      const [maker, filter] = [addressOf(op.wallet), filterOf(world, op)];
      done.push({ kind: 'swept', maker, filter, sweep: await sweepAll(engine, maker, filter, op.look) });
    }
    if (op.kind === 'cancel') {
      const { id: market } = marketOf(world, op.market);
      const [maker, hashes] = [addressOf(op.wallet), op.of.map((id) => hashOf(world, id))];
      const reply = await engine.cancelMany(market, maker, hashes, op.reason);
      done.push({ kind: 'cancelled', market, maker, hashes, reply });
    }
  };
  const flying = new Set<Promise<void>>();
  for (const [i, op] of operationsOf(world, OPERATIONS).entries()) {
    const { lotLots } = marketOf(world, 0);
    const placed = op.kind === 'replace' ? op.place : op;
    if (placed.kind === 'place') {
      const size = 'lots' in placed.size ? placed.size.lots : lotLots * 100;
      const elapsed = Date.now() - startMs;
      if (!requests.has(placed.id))
        requests.set(placed.id, requestFor(world, placed, size, startMs + elapsed));
    }
    const both = i % 4 === 0 ? engines : [engines[i % 2] as Engine];
    for (const engine of both) {
      const flight: Promise<void> = act(engine, op)
        .catch((error: unknown) => {
          if (!(error instanceof Refusal)) throw error;
        })
        .finally(() => flying.delete(flight));
      flying.add(flight);
    }
    if (flying.size >= IN_FLIGHT) await Promise.race(flying);
  }
  await Promise.all(flying);
  return done;
}

/** A whole walk in small steps, so that much happens between two of them. */
async function sweepAll(engine: Engine, maker: string, filter: SweepFilter, look: number): Promise<Sweep> {
  const sequences = new Map<string, number>();
  const cancelled: string[] = [];
  let from: WalkPlace | undefined;
  for (let step = 0; step < STEPS_MAX; step++) {
    // Two orders may be of one age, one in each market.
    const taken = await engine.sweep(maker, filter, from, Math.max(2, look));
    cancelled.push(...taken.cancelled);
    for (const [id, sequence] of taken.sequences) sequences.set(id, sequence);
    if (!taken.next) return { cancelled, sequences };
    from = taken.next;
  }
  throw new Error('a sweep does not end');
}

type Booking = Done & { readonly kind: 'placed' | 'replaced' };
const isBooking = (d: Done): d is Booking => d.kind === 'placed' || d.kind === 'replaced';
const isStep = ({ kind }: OutboxEvent): boolean => kind === 'ORDER' || kind === 'TRADE';

/** The commands that changed a market, by number; no number is missing or used twice. */
function bySequence(
  done: readonly Done[],
  events: readonly OutboxEvent[],
  market: string,
): Map<number, Done | OutboxEvent> {
  const commands = new Map<number, Done | OutboxEvent>();
  const add = (sequence: number, command: Done | OutboxEvent): void => {
    expect(commands.has(sequence)).toBe(false);
    commands.set(sequence, command);
  };
  const own = events.filter(({ marketId }) => marketId === market);
  for (const command of done) {
    if (
      command.kind === 'cancelled' &&
      command.market === market &&
      command.reply.results.some(({ cancelled }) => cancelled)
    ) {
      add(command.reply.sequence, command);
    }
  }
  const bookings = done.filter(isBooking);
  const booked = new Set<string>();
  for (const event of own.filter(isStep)) {
    const hash = event.orderHashes[0] ?? '';
    // Later steps of a submission are found by its hash.
    if (booked.has(hash)) continue;
    booked.add(hash);
    const same = bookings.filter(({ request, reply }) => {
      return request.orderHash === hash && request.orderType === reply.record.orderType;
    });
    // Two calls that both ran steps of an order both say that they repeated it.
    const command = same.find(({ reply }) => !reply.replayed) ?? same.find((d) => hasReplaced(d)) ?? same[0];
    if (!command) throw new Error(`nothing has booked ${hash}`);
    // The cancel of the old order has the number before: both happen at the first of the two.
    add(command.kind === 'replaced' ? event.sequence - 1 : event.sequence, command);
  }
  for (const event of own) {
    if (commands.get(event.sequence)?.kind === 'replaced') continue;
    // A cancel without named orders belongs to a sweep.
    const isSweep = event.kind === 'CANCEL' && !commands.has(event.sequence);
    if (event.kind === 'EXPIRE' || isSweep) add(event.sequence, event);
  }
  return commands;
}

const hasReplaced = (d: Booking): boolean =>
  d.kind === 'replaced' &&
  d.reply.old?.reason === 'REPLACED' &&
  d.reply.old.updatedAtMs === d.reply.record.createdAtMs;

function replay(
  stage: SideBySide,
  commands: ReadonlyMap<number, Done | OutboxEvent>,
  told: ReadonlyMap<number, OutboxEvent>,
  sweeps: readonly Swept[],
  market: string,
): void {
  const { model } = stage;
  const unfinished = new Map<string, Booking>();
  /** Books the next step, and checks the answer after the last. */
  const book = (command: Booking, sequence: number, answer: Answer): void => {
    if (!('fills' in answer)) throw new Error(`number ${sequence}: the model says ${answer.code}`);
    const { orderHash } = command.request;
    unfinished.set(orderHash, command);
    if (!model.cut.has(orderHash)) finish(command, answer);
  };
  const finish = ({ request, reply }: Booking, { order, fills }: Omit<Booked, 'code'>): void => {
    unfinished.delete(request.orderHash);
    if (!reply.replayed) {
      checkRecord('replayed order', order, reply.record);
      checkFills('replayed fills', fillsOf(order, fills), reply.fills);
    }
    remember(stage, order, fills);
  };
  checkSwept(stage, sweeps, market);
  while (model.market(market).sequence < told.size) {
    const sequence = model.market(market).sequence + 1;
    const command = commands.get(sequence);
    const event = told.get(sequence);
    if (!event) throw new Error(`nothing has number ${sequence} in ${market}`);
    const begun = unfinished.get(event.orderHashes[0] ?? '');
    const cutShort = event.kind === 'CANCEL' ? model.cut.get(event.orderHashes[0] ?? '') : undefined;
    if (begun && isStep(event)) {
      book(begun, sequence, model.step(begun.request.orderHash, event.timestampMs));
    } else if (begun && cutShort && command?.kind !== 'cancelled') {
      // Its deadline or expiration came between two steps.
      model.leave(market, [cutShort.order], 'MATCH_LIMIT', event.timestampMs);
      finish(begun, cutShort);
    } else if (!command) {
      throw new Error(`nothing has number ${sequence} in ${market}`);
    } else if (command.kind === 'EXPIRE' || command.kind === 'CANCEL') {
      const list = model
        .market(market)
        .resting.filter((o) => command.orderHashes.includes(o.request.orderHash));
      expect(list.map((o) => o.request.orderHash).sort()).toEqual([...command.orderHashes].sort());
      const isDue = (o: ModelOrder): boolean => o.request.expirationSec * 1000 <= command.timestampMs;
      const reason = command.kind === 'CANCEL' ? 'CANCEL_ALL' : 'EXPIRED';
      expect(reason === 'CANCEL_ALL' || list.every(isDue)).toBe(true);
      model.leave(market, list, reason, command.timestampMs);
    } else if (isBooking(command as Done)) {
      const booking = command as Booking;
      const oldHash = booking.kind === 'replaced' ? booking.oldHash : null;
      book(booking, sequence, model.place(booking.request, event.timestampMs, oldHash, true));
      if (booking.kind === 'replaced' && !booking.reply.replayed)
        checkRecord('replaced', model.orders.get(booking.oldHash) ?? null, booking.reply.old);
    } else if (command.kind === 'cancelled') {
      const cut = command.hashes.flatMap((hash) => model.cut.get(hash) ?? []);
      const results = model.cancel(market, command.maker, command.hashes, 'USER', event.timestampMs);
      const got = command.reply.results.map(({ cancelled, record }) => cancelled && (record?.reason ?? null));
      for (const { order, cancelled } of results)
        if (cancelled && order) order.reason = got.find(Boolean) || null;
      const ended = (list: readonly { cancelled: boolean }[]) => list.map(({ cancelled }) => cancelled);
      expect(ended(results)).toEqual(ended(command.reply.results));
      for (const one of cut) {
        const begunBefore = unfinished.get(one.order.request.orderHash);
        if (begunBefore && !model.cut.has(one.order.request.orderHash)) finish(begunBefore, one);
      }
    }
    expect(model.market(market).sequence).toBe(sequence + (command?.kind === 'replaced' && !begun ? 1 : 0));
    checkSwept(stage, sweeps, market);
  }
  expect(model.market(market).sequence).toBe(told.size);
}

const isSwept = ({ maker, filter }: Swept, { request }: ModelOrder): boolean =>
  request.maker === maker &&
  (filter.outcome ?? request.order.outcome) === request.order.outcome &&
  (filter.side ?? request.order.side) === request.order.side;

/** At the number that a sweep of this market answered, none of its selected orders is open. */
function checkSwept({ model }: SideBySide, sweeps: readonly Swept[], id: string): void {
  const { sequence, resting } = model.market(id);
  for (const one of sweeps) {
    if (one.filter.marketId !== id || one.sweep.sequences.get(id) !== sequence) continue;
    expect(resting.filter((order) => isSwept(one, order)).map((o) => o.request.orderHash)).toEqual([]);
  }
}

/** None of the orders below the number that a sweep answered is open any more. */
function checkEnded({ model }: SideBySide, sweeps: readonly Swept[], id: string): void {
  for (const one of sweeps) {
    const number = one.sweep.sequences.get(id) ?? 0;
    const left = model.market(id).resting.filter((o) => o.sequence < number && isSwept(one, o));
    expect(left.map(({ request }) => request.orderHash)).toEqual([]);
  }
}

test(
  'replaying the commands in the order of their numbers produces the same fills',
  async () => {
    const drawn = { ...worldOf(seed), wallets: WALLETS };
    const world: World = { ...drawn, grantMicro: GRANT, makersMax: 5, staleMax: 200, scale: 1, deep: false };
    const [first, second] = connections as [Redis, Redis];
    const stage = await createSideBySide(world, { redis: first, realTime: true });
    const { run, keys, model, ledger, marketIds } = stage;
    for (const who of ledger.addresses) {
      for (const id of marketIds) {
        await stage.engine.convert(id, who, micro(SETS), `${who}${id}`);
        model.convert(id, who, BigInt(SETS), `${who}${id}`);
      }
    }
    const other = createEngine({ run: createScripts(second), grantMicro: micro(GRANT), makersMax: 5 });
    const done = await playAll(world, [stage.engine, other], Date.now());

    const hashes = done.filter(isBooking).flatMap((d) => (d.reply.replayed ? [] : [d.request.orderHash]));
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(done.filter((d) => d.kind === 'placed' && d.reply.replayed).length).toBeGreaterThan(100);
    const entries = await first.xrangeBuffer(keys.outbox, '-', '+');
    const events = entries.map(([, fields]) => decodeEvent(fields[1] as Buffer));
    let commands = 0;
    const swept = done.filter((d) => d.kind === 'swept');
    for (const id of marketIds) {
      const told = events.filter((event) => event.marketId === id && event.kind !== 'BALANCE');
      expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, i) => i + 1));
      const numbered = new Map(told.map((event) => [event.sequence, event]));
      commands += numbered.size;
      replay(stage, bySequence(done, events, id), numbered, swept, id);
      checkEnded(stage, swept, id);
    }
    ledger.emitted += model.emitted.splice(0).length;
    const stored = await readState(run, keys, {
      markets: marketIds,
      wallets: ledger.addresses,
      hashes: [],
      news: 0,
    });
    checkState(world, model, stored, ledger, 0);
    await checkOrders(stage);
    tell(
      `  ${commands} commands, ${hashes.length} booked, ${done.filter((d) => d.kind === 'replaced' && !d.reply.replayed).length} of them in the place of others, ${swept.length} sweeps that cancelled ${swept.flatMap(({ sweep }) => sweep.cancelled).length}, ${[...stage.tally].map(([what, n]) => `${what} ${n}`).join(', ')}`,
    );
  },
  LIMIT_MS,
);
