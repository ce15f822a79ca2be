import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { shardKeys } from '../src/store/redis/keys';
import { remaining, untilDone } from './archive';
import { round } from './figures';
import { missedOfEntry, type RedisMemory, weigh } from './redis-memory';
import {
  BEGINNING,
  type Commands,
  createCommands,
  type Figures,
  flood,
  type KindRow,
  kindsOf,
  LOAD_PART,
  type Look,
  MAKERS,
  megabytes,
  ofProcesses,
  type SoakRow,
  type Turns,
  underLoad,
  type World,
  withWorld,
} from './soak';

/**
 * The soak with an archive: half of the time every order is cancelled or filled, the other half every order expires. Redis is
 * measured before and after each half, by `used_memory` less the keys that hold no records, when everything that is over has left
 * it. The difference is kept of dead orders.
 */
const keys = shardKeys();
const HALVES: readonly (Turns & { readonly what: Figures['what'] })[] = [
  // As many cancels as orders that rest: 8, 8, 3 cross, one reads.
  { what: 'redis, orders cancelled or filled', pattern: 'rcrcgrcrcrcxrcrcxrcx' },
  { what: 'redis, orders that expired', pattern: 'rrrrgrrrrr', lifeSeconds: 5 },
];
const BEGINNING_MINUTES = 1;
/** Redis gives back the buffers of a quiet connection after about two seconds. */
const QUIET_MS = 3_000;

interface Quiet extends RedisMemory {
  readonly left: number;
}

export async function benchSoakArchive(
  redisUrl: string,
  archiveUrl: string,
  minutes: number,
  emit: (row: SoakRow) => void,
  tellKind: (row: KindRow) => void,
): Promise<void> {
  await withWorld(redisUrl, { ARCHIVE_URL: archiveUrl }, async (world) => {
    // Entries of the slow log would count as memory of the orders.
    await world.redis.call('CONFIG', 'SET', 'slowlog-log-slower-than', -1);
    const missed = await missedOfEntry(world.redis);
    const looks: Look[] = [];
    const shown = { suite: 'soak', minutes, withArchive: true } as const;
    let commandsPerSecond = 0;
    for (const half of HALVES) {
      const commands = createCommands(world, half);
      const perSecond = (await flood(world.load, commands)) * LOAD_PART;
      // Everything that is made once, such as wallets, and what grows up to its bound, such as the updates of the book.
      await underLoad(world, commands, { perSecond, minutes: BEGINNING_MINUTES });
      const before = await quiet(world, commands, missed);
      const done = await underLoad(world, commands, { perSecond, minutes: minutes / HALVES.length });
      const after = await quiet(world, commands, missed);
      looks.push(...done.looks);
      commandsPerSecond = done.commandsPerSecond;
      emit({ ...shown, commandsPerSecond, ...ofHalf(half.what, before, after) });
      for (const row of kindsOf(before, after)) tellKind(row);
    }
    const from = (looks[0]?.atMs ?? 0) + (minutes * 60_000 * BEGINNING) / HALVES.length;
    for (const row of ofProcesses(looks, from)) emit({ ...shown, commandsPerSecond, ...row });
  });
}

/** The memory of Redis when everything that is over has left it. */
async function quiet({ redis, load, signer }: World, commands: Commands, missed: number): Promise<Quiet> {
  const { market, addresses } = signer;
  await load.flood(commands.cancelNext, commands.check);
  await untilDone('what is over has left Redis', async () => {
    return (await remaining(redis, [market.id], addresses)) <= MAKERS;
  });
  await trimmed(redis);
  await wait(QUIET_MS);
  return { ...(await weigh(redis, missed)), left: Number(await redis.hget(keys.archive, 'orders')) };
}

/** The last minute of the outbox goes at once. */
const trimmed = (redis: Redis): Promise<number> => redis.xtrim(keys.outbox, 'MAXLEN', 1);

/** Without keys that have a bound: the queues keep their latest 200 events, which takes some of them twenty minutes. */
const lasting = ({ usedBytes, boundedBytes }: Quiet): number => usedBytes - boundedBytes;

function ofHalf(what: Figures['what'], before: Quiet, after: Quiet): Figures {
  const [begin, end] = [lasting(before), lasting(after)];
  const [grownBytes, orders] = [end - begin, after.left - before.left];
  return {
    what,
    beginMegabytes: megabytes(begin),
    endMegabytes: megabytes(end),
    growthMegabytes: megabytes(grownBytes),
    growthPart: round(grownBytes / begin, 3),
    orders,
    bytesPerOrder: round(grownBytes / orders),
    outboxMegabytes: megabytes(after.outboxBytes),
  };
}
