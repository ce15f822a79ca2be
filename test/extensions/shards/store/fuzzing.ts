import { Refusal } from '../../../../src/exchange/errors';
import { type Micro, micro } from '../../../../src/exchange/units';
import { type Channels, createChannels } from '../../../../src/extensions/shards/store/channels';
import { createShards, type Shards } from '../../../../src/extensions/shards/store/engine';
import { createTransfers } from '../../../../src/extensions/shards/store/transfers';
import { addressBytes } from '../../../../src/store/records/order';
import { createKeys } from '../../../../src/store/redis/keys';
import { createScripts, type RedisClient } from '../../../../src/store/redis/scripts';
import { homeOf, type ShardCount } from '../../../../src/store/redis/tags';
import { FEE_ACCOUNT } from '../../../model/accounts';
import { createModel } from '../../../model/exchange';
import { check, checkMarket, checkRecord } from '../../../store/fuzzing/compare';
import { type Operation, type World, worldOf } from '../../../store/fuzzing/operations';
import { perform } from '../../../store/fuzzing/perform';
import { addressOf } from '../../../store/fuzzing/requests';
import { FAKE_CLOCK, type Patch, patchedScripts } from '../../../store/fuzzing/scripts';
import type { SideBySide } from '../../../store/fuzzing/side-by-side';
import { readState } from '../../../store/fuzzing/stored';
import { filterOf, type SweepOperation, sweepOf } from '../../../store/fuzzing/sweeps';

/** The exchange of several shards beside the model of test/model, which has one: every answer and every balance must agree. */
export interface ShardFuzzOptions {
  readonly redis: RedisClient;
  readonly count: ShardCount;
  readonly patches?: readonly Patch[];
}

const SENT = 'sent by';
const START_MS = 1_800_000_000_500;
const MARKETS = 8;
const STALE_MAX = 200;
/** The time of a script is at a key of its own slot. */
const CLOCK: Patch = {
  ...FAKE_CLOCK,
  to: "return tonumber(redis.call('GET', KEYS[1]:match('^[^}]*}') .. ':clock'))",
};

/** A world with two markets in each of four shards. The last digit of a market says its shard. */
export function shardWorldOf(seed: number): World {
  const world = worldOf(seed);
  const markets = Array.from({ length: MARKETS }, (_, i) => {
    const like = world.markets[i % 2] as World['markets'][number];
    return { ...like, id: `${like.id.slice(0, -1)}${i}` };
  });
  return { ...world, markets, wallets: 6, staleMax: STALE_MAX };
}

export type ShardStage = Awaited<ReturnType<typeof createShardStage>>;

export async function createShardStage(world: World, { redis, count, patches = [] }: ShardFuzzOptions) {
  for (const master of 'nodes' in redis ? redis.nodes('master') : [redis]) await master.flushall();
  const shards = Array.from({ length: count }, (_, k) => createKeys(k));
  const run = createScripts(redis, patchedScripts([CLOCK, ...patches]));
  let nowMs = START_MS;
  const setClock = async (ms: number): Promise<void> => {
    nowMs = ms;
    await Promise.all(shards.map(({ prefix }) => redis.set(`${prefix}clock`, ms)));
  };
  await setClock(START_MS);
  const tally = new Map<string, number>();
  const counted = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);
  const channels = createChannels({ redis, run, shards });
  const shardOf = (id: string): number => Number(id.slice(-1)) % count;
  const { grantMicro, makersMax } = world;
  // Two processes: what one of them remembers, the other has to find.
  const engines = [1, 2].map(() =>
    createShards({
      redis,
      run,
      shards,
      makersMax,
      grantMicro: grantMicro as Micro,
      shardOf: async (id) => shardOf(id),
      channels: counting(channels, counted),
    }),
  );
  const [exchange] = engines as [Shards];
  const model = createModel({ grantMicro, makersMax, staleMax: STALE_MAX });
  const marketIds = world.markets.map(({ id }) => id);
  for (const id of marketIds) {
    await exchange.createMarket({ id, conditionId: `0x${id}`, slug: `slug-${id}` }, '{}', 'OPEN');
    model.addMarket(id);
  }
  model.emitted.splice(0);
  const stage = {
    world,
    run,
    engine: exchange,
    model,
    tally,
    marketIds,
    setClock,
    oblivion: null,
    keys: shards[0],
    ledger: {
      addresses: [],
      booked: new Map(),
      matches: new Map(),
      verified: new WeakSet(),
      emitted: 0,
      granted: 0n,
    },
    requests: new Map(),
    faucet: new Map(),
    raised: new Map(),
    walks: new Map(),
    sweeps: new Map(),
    memory: new Map(),
    levels: new Map(),
    chains: new Map(),
    count: counted,
    now: () => nowMs,
    toldNow: async () => nowMs,
  } as unknown as SideBySide;
  const transfers = createTransfers({ redis, channels, shards, olderThanMs: 0 });
  return {
    stage,
    engines,
    shards,
    run,
    shardOf,
    redis,
    tally,
    transfers,
    memory: shards.map(() => new Map()),
  };
}

/** Counts the transfers, so that a fuzz without any is noticed. */
const counting = (channels: Channels, count: (what: string) => void): Channels => ({
  ...channels,
  async send(options) {
    const reply = await channels.send(options);
    const who = 'grantMicro' in options.home ? 'home' : 'another shard';
    count(`${SENT} ${who}: ${reply.code}`);
    return reply;
  },
});

/** Plays operations one after the other; throws at the first difference. */
export async function playShards(world: World, operations: readonly Operation[], options: ShardFuzzOptions) {
  const all = await createShardStage(world, options);
  for (const [at, operation] of operations.entries()) {
    try {
      await playOne(all, operation, at);
    } catch (error) {
      throw new Error(`seed ${world.seed}, operation ${at}: ${JSON.stringify(operation)}\n${String(error)}`);
    }
  }
  return all;
}

/** `spread` says the shard by which an operation of a market is remembered, for stages with other numbers of shards. */
export async function playOne(
  all: ShardStage,
  operation: Operation,
  at: number,
  spread: (id: string) => number = all.shardOf,
): Promise<void> {
  const { shards, shardOf } = all;
  const engine = all.engines[at % all.engines.length] as Shards;
  const stage: SideBySide = { ...all.stage, engine };
  const moved = transfersOf(all);
  if (operation.kind === 'invalidate') await invalidate(stage, addressOf(operation.wallet));
  else if (operation.kind === 'sweep') await cancelAll(stage, operation);
  else {
    const id = 'market' in operation ? (stage.marketIds[operation.market ?? 0] ?? '') : '0';
    const wide = widened(operation, spread(id));
    await perform({ ...stage, keys: shards[shardOf(id)] as SideBySide['keys'] }, wide);
  }
  // The other operations under a mode are drawn for any exchange.
  if (operation.kind === 'mode')
    await cancelAll(stage, sweepOf(at, at % stage.marketIds.length, at % stage.world.wallets));
  if (isDry(operation)) check('transfers of a dry run', moved, transfersOf(all));
  await compare(all);
}

const isDry = (operation: Operation): boolean =>
  'dryRun' in operation ? operation.dryRun : operation.kind === 'replace' && operation.place.dryRun;

const transfersOf = ({ tally }: ShardStage): number =>
  [...tally].reduce((sum, [what, count]) => (what.startsWith(SENT) ? sum + count : sum), 0);

/** Every shard expires all that is due, and remembers the operations of its own markets. */
function widened(operation: Operation, shard: number): Operation {
  if (operation.kind === 'expire') return { ...operation, most: STALE_MAX };
  return operation.kind === 'convert' ? { ...operation, id: operation.id * MARKETS + shard } : operation;
}

async function invalidate({ engine, model, count, now }: SideBySide, who: string): Promise<void> {
  if (model.mode() === 'HALTED') return;
  await engine.invalidateAll(who, model.nonce(who));
  const { invalidated } = model.invalidate(who, model.nonce(who), null, Number.MAX_SAFE_INTEGER, now());
  if (invalidated > 0) count('invalidated');
}

/** All steps at once: a step is bounded in one shard, so a walk over several has other steps. */
async function cancelAll(stage: SideBySide, operation: SweepOperation): Promise<void> {
  const { engine, model, world, now, count } = stage;
  const who = addressOf(operation.wallet);
  const { marketId = null, outcome = null, side = null } = filterOf(world, operation);
  const got = await engine.cancelAll(who, filterOf(world, operation)).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    check('refusal of a cancel of all', model.mode(), error.code);
  });
  if (!got) return count('no cancel of all while HALTED');
  check('a cancel of all in this mode', true, model.mode() !== 'HALTED');
  const expected = model.sweep(
    who,
    { market: marketId, outcome, side },
    null,
    Number.MAX_SAFE_INTEGER,
    now(),
  );
  const hashes = expected.cancelled.map(({ request }) => request.orderHash);
  check('orders cancelled', hashes.sort().join(), [...got.cancelled].sort().join());
  const text = (numbers: ReadonlyMap<string, number>): string => JSON.stringify([...numbers].sort());
  check('numbers of a cancel of all', text(expected.numbers), text(got.sequences));
  if (expected.numbers.size > 1) count('cancelled in several markets');
  if (hashes.length > 0) count('cancelled all');
}

/** Every balance and every book, and the orders that the operation touched. */
async function compare({ stage, shards, run, shardOf, memory }: ShardStage): Promise<void> {
  const { model, world, marketIds, ledger } = stage;
  const news = model.emitted.splice(0);
  const hashes = [...new Set(news.flatMap(({ orders }) => orders))];
  const states = await Promise.all(
    shards.map((keys, k) => {
      const markets = marketIds.filter((id) => shardOf(id) === k);
      return readState(run, keys, { markets, wallets: [], hashes, news: 0 }, memory[k]);
    }),
  );
  for (const [i, hash] of hashes.entries()) {
    const found = states.map(({ records }) => records[i] ?? null).filter((record) => record !== null);
    check('shards that have the order', 1, found.length);
    checkRecord('stored order', model.orders.get(hash) ?? null, found[0] ?? null);
  }
  const touched = new Set(news.map(({ market }) => market));
  for (const id of marketIds) {
    if (!touched.has(id)) continue;
    const at = marketIds.filter((other) => shardOf(other) === shardOf(id)).indexOf(id);
    const stored = states[shardOf(id)]?.markets[at];
    if (stored) checkMarket(model, id, stored, ledger);
    for (const who of [...walletsOf(world), FEE_ACCOUNT]) {
      const [yes, no] = [model.account(`${id}0`, who), model.account(`${id}1`, who)];
      const tokens = stored?.tokens.get(who) ?? [0n, 0n, 0n, 0n];
      check(`tokens of ${who} in ${id}`, `${[yes.free, yes.reserved, no.free, no.reserved]}`, `${tokens}`);
    }
  }
  for (const who of [...walletsOf(world), FEE_ACCOUNT])
    checkCollateral(stage, who, states, shards.length as ShardCount);
}

const walletsOf = (world: World): string[] => Array.from({ length: world.wallets }, (_, i) => addressOf(i));

function checkCollateral(
  { model, world }: SideBySide,
  who: string,
  states: readonly Awaited<ReturnType<typeof readState>>[],
  count: ShardCount,
): void {
  const isFee = who === FEE_ACCOUNT;
  const home = isFee ? 0 : homeOf(addressBytes(who), count);
  let [free, reserved] = [0n, 0n];
  for (const [k, { money }] of states.entries()) {
    const fresh = !isFee && k === home ? BigInt(micro(world.grantMicro)) : 0n;
    const [here = fresh, bound = 0n] = money.cash.get(who) ?? [];
    free += here;
    reserved += bound;
    const nonce = money.nonces.get(who);
    if (nonce !== undefined && !isFee) check(`nonce of ${who} in shard ${k}`, model.nonce(who), nonce);
  }
  const expected = model.account('cash', who);
  check(
    `collateral of ${who}`,
    `${expected.free} free, ${expected.reserved} reserved`,
    `${free} free, ${reserved} reserved`,
  );
}
