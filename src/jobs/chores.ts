import type { Config } from '../config/load';
import { Refusal } from '../exchange/errors';
import { type CandleWriter, createCandleWriter } from '../store/candles/writer';
import type { ArchivedReads } from '../store/lists/archived-reads';
import { type Agenda, createAgenda } from '../store/markets/agenda';
import type { Markets } from '../store/markets/markets';
import { createOutbox, type Outbox } from '../store/outbox/outbox';
import { addressBytes } from '../store/records/order';
import type { Clock } from '../store/redis/clock';
import type { Keys } from '../store/redis/keys';
import type { RedisClient, RunScript } from '../store/redis/scripts';
import { homeOf } from '../store/redis/tags';
import type { Engine } from '../store/verbs/engine';
import { createRaisedNonces } from '../store/verbs/invalidate';
import { createPriceChore } from './prices';
import { runEach, runEachMarket } from './run-each';
import type { Chore } from './schedule';

interface ChoresOptions {
  readonly engine: Engine;
  readonly markets: Markets;
  readonly agenda: Agenda;
  readonly outbox: Outbox;
  readonly candles: CandleWriter;
  readonly clock: Clock;
  readonly raisedNonces: () => Promise<ReadonlyMap<string, number>>;
}

const EXPIRE_EVERY_MS = 500;
const TRIM_EVERY_MS = 5_000;
const CLOSE_EVERY_MS = 1_000;
const WIND_UP_EVERY_MS = 500;
const INVALIDATE_EVERY_MS = 1_000;
/** The most bounded steps in one tick; the next tick continues. */
const STEPS_MAX = 1_000;

/** The exchange is HALTED, or the walk exceeded its bound: the next tick tries again. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}

/** The worker's scheduled chores. */
export function createChores({
  engine,
  markets,
  agenda,
  outbox,
  clock,
  candles,
  raisedNonces,
}: ChoresOptions): Chore[] {
  return [
    {
      name: 'expire-orders',
      everyMs: EXPIRE_EVERY_MS,
      async run() {
        for (let step = 0; step < STEPS_MAX; step++) {
          if (!(await engine.expire()).waiting) return;
        }
      },
    },
    {
      // A web process does this right after it raises a nonce; this chore finishes the work of processes that crashed.
      name: 'invalidate-orders',
      everyMs: INVALIDATE_EVERY_MS,
      async run() {
        await runEach(
          await raisedNonces(),
          ([address]) => address,
          ([address, nonce]) => engine.invalidateAll(address, nonce).catch(unlessRefused),
        );
      },
    },
    {
      name: 'trim-outbox',
      everyMs: TRIM_EVERY_MS,
      async run() {
        for (let step = 0; step < STEPS_MAX; step++) {
          if ((await outbox.trim()) === 0) return;
        }
      },
    },
    {
      name: 'close-markets',
      everyMs: CLOSE_EVERY_MS,
      async run() {
        await runEachMarket(await agenda.due(clock.now()), markets.closeWhenDue);
      },
    },
    {
      name: 'wind-up-markets',
      everyMs: WIND_UP_EVERY_MS,
      async run() {
        await runEachMarket(await agenda.ending(), markets.windUp);
      },
    },
    createPriceChore(candles),
  ];
}

/** The store of an exchange, whose chores are those of its shards. */
export interface ChoreStore {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly clock: Clock;
  /** The engine of all shards. */
  readonly engine: Engine;
  /** The readers of the outbox. */
  readonly readers: readonly string[];
  readonly shards: readonly {
    readonly keys: Keys;
    readonly archivedReads: ArchivedReads;
    readonly engine: Engine;
    readonly ownMarkets: Markets;
  }[];
}

/** The chores of each shard. */
export const choresOfShards = (
  { shards: count }: Pick<Config, 'shards'>,
  { redis, run, clock, engine: whole, readers, shards }: ChoreStore,
): Chore[][] =>
  shards.map(({ keys, archivedReads, engine, ownMarkets }, shard) => {
    const slotKey = { redis, run, keys };
    const isHome = (address: string): boolean => homeOf(addressBytes(address), count) === shard;
    // The home of a wallet sends its nonce to the other shards before it takes the wallet off its list.
    const invalidateAll: Engine['invalidateAll'] = (address, nonce) =>
      (isHome(address) ? whole : engine).invalidateAll(address, nonce);
    return createChores({
      clock,
      markets: ownMarkets,
      engine: shards.length > 1 ? { ...engine, invalidateAll } : engine,
      agenda: createAgenda(slotKey),
      outbox: createOutbox({ ...slotKey, readers }),
      candles: createCandleWriter({ ...slotKey, archivedReads }),
      raisedNonces: createRaisedNonces(slotKey),
    });
  });
