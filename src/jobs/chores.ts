import { Refusal } from '../exchange/errors';
import { type CandleWriter, createCandleWriter } from '../store/candles/writer';
import { type Agenda, createAgenda } from '../store/markets/agenda';
import type { Markets } from '../store/markets/markets';
import { createOutbox, type Outbox } from '../store/outbox/outbox';
import type { Partition } from '../store/partition';
import type { Clock } from '../store/redis/clock';
import type { RedisClient, RunScript } from '../store/redis/scripts';
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

/** The chores of a partition. */
export const choresOf = (
  { redis, run, clock, readers }: ChoreHost,
  { keys, archivedReads, engine, markets }: Pick<Partition, 'keys' | 'archivedReads' | 'engine' | 'markets'>,
): Chore[] => {
  const slotKey = { redis, run, keys };
  return createChores({
    clock,
    markets,
    engine,
    agenda: createAgenda(slotKey),
    outbox: createOutbox({ ...slotKey, readers }),
    candles: createCandleWriter({ ...slotKey, archivedReads }),
    raisedNonces: createRaisedNonces(slotKey),
  });
};

interface ChoreHost {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly clock: Clock;
  /** The readers of the outbox. */
  readonly readers: readonly string[];
}
