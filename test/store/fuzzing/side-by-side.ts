import { micro } from '../../../src/exchange/units';
import { decodeOrder, type Fill } from '../../../src/store/records/order';
import { createKeys, type Keys } from '../../../src/store/redis/keys';
import { createScripts, type RedisClient, type RunScript } from '../../../src/store/redis/scripts';
import { createEngine, type Engine } from '../../../src/store/verbs/engine';
import type { OpenOrderPlace } from '../../../src/store/verbs/invalidate';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import { createModel, type Model } from '../../model/exchange';
import type { ModelOrder } from '../../model/matching';
import type { Ledger } from './compare';
import { createOblivion, type Oblivion } from './forgetting';
import type { World } from './operations';
import { addressOf } from './requests';
import { CLOCK_KEY, FAKE_CLOCK, type Patch, patchedScripts, staleMaxPatch } from './scripts';
import { type Memory, readState } from './stored';
import type { SweepWalk } from './sweeps';

export interface RunOptions {
  readonly redis: RedisClient;
  /** Bugs planted in the scripts under test. */
  readonly patches?: readonly Patch[];
  /** Uses the clock of Redis; otherwise the scripts read their time from a key, so that a run repeats exactly. */
  readonly realTime?: boolean;
  /** Everything that is over leaves Redis, with 'late' before the archive has it. Not in real time. */
  readonly forgetting?: boolean | 'late';
}

/** Counts of events, so that a fuzz that meets nothing is noticed. */
export type Tally = Map<string, number>;

/** A walk for one nonce, in the terms of the engine and of the model. */
interface Walk {
  readonly nonce: number;
  readonly from: OpenOrderPlace | undefined;
  readonly after: ModelOrder | null;
}

/** The engine and the model side by side, and the data of the comparison. */
export interface SideBySide {
  readonly world: World;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly engine: Engine;
  readonly model: Model;
  readonly ledger: Ledger;
  readonly tally: Tally;
  readonly requests: Map<number, PlaceRequest>;
  /** Every fill of an order, by its hash. */
  readonly chains: Map<string, Fill[]>;
  /** When a wallet was last paid by the faucet. */
  readonly faucet: Map<string, number>;
  /** The nonce each operation raised its wallet to. */
  readonly raised: Map<string, number>;
  /** Walks over wallets' open orders in progress. */
  readonly walks: Map<string, Walk>;
  /** The same for sweeps, by wallet. */
  readonly sweeps: Map<number, SweepWalk>;
  readonly memory: Memory;
  readonly oblivion: Oblivion | null;
  /** Levels of each market before the next operation. */
  readonly levels: Map<string, Map<string, string>>;
  readonly marketIds: readonly string[];
  count(what: string): void;
  /** The engine's time, in milliseconds. */
  now(): number;
  /** The time of the latest outbox entry: for scripts whose reply has no time. */
  toldNow(): Promise<number>;
  /** Sets the clock; without effect in real time. */
  setClock(ms: number): Promise<void>;
}

/** The place of the script's time in a reply: the record of a booked order, else after the code. */
function timeIn(name: string, reply: unknown): number | null {
  if (name === 'place_order' && Buffer.isBuffer(reply)) return decodeOrder('', reply).createdAtMs;
  if (!Array.isArray(reply) || !Buffer.isBuffer(reply[0])) return null;
  if (reply[0].toString() === 'BOOKED') return decodeOrder('', reply[1]).createdAtMs;
  const told = Number(reply[1]);
  return told > 0 ? told : null;
}

const START_MS = 1_800_000_000_500;

export async function createSideBySide(world: World, options: RunOptions): Promise<SideBySide> {
  const { redis, patches = [], realTime = false } = options;
  const { grantMicro, makersMax, staleMax } = world;
  let nowMs = START_MS;
  const setClock = async (ms: number): Promise<void> => {
    if (realTime) return;
    nowMs = ms;
    await redis.set(CLOCK_KEY, ms);
  };
  for (const master of 'nodes' in redis ? redis.nodes('master') : [redis]) await master.flushall();
  await setClock(START_MS);
  const bound = staleMax === 200 ? [] : [staleMaxPatch(staleMax)];
  const scripts = createScripts(
    redis,
    patchedScripts([...(realTime ? [] : [FAKE_CLOCK]), ...bound, ...patches]),
  );
  const run: RunScript = async (name, keys, args) => {
    const reply = await scripts(name, keys, args);
    if (realTime) nowMs = timeIn(name, reply) ?? nowMs;
    return reply;
  };
  const keys = createKeys();
  const oblivion = options.forgetting
    ? createOblivion(redis, run, keys, options.forgetting === 'late')
    : null;
  const tally: Tally = new Map();
  const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);
  const left = oblivion ? { archivedReads: oblivion.archivedReads } : {};
  const engine = createEngine({ run, grantMicro: micro(grantMicro), makersMax, ...left });
  const model = createModel({ grantMicro, makersMax, staleMax });
  const marketIds = world.markets.map(({ id }) => id);
  for (const id of marketIds) {
    await engine.createMarket({ id, conditionId: `0x${id}`, slug: `slug-${id}` }, '{}', 'OPEN');
    model.addMarket(id);
  }
  const addresses = Array.from({ length: world.wallets }, (_, i) => addressOf(i));
  const emitted = model.emitted.splice(0).length;
  return {
    world,
    run,
    keys,
    engine,
    model,
    tally,
    marketIds,
    setClock,
    oblivion,
    count,
    ledger: {
      addresses,
      booked: new Map(),
      matches: new Map(),
      verified: new WeakSet(),
      emitted,
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
    now: () => nowMs,
    async toldNow() {
      if (!realTime) return nowMs;
      const { news } = await readState(run, keys, { markets: [], wallets: [], hashes: [], news: 1 });
      return news[0]?.timestampMs ?? 0;
    },
  };
}
