import { isBefore, NO_ENTRY } from '../redis/entry-id';
import { holderOf } from '../redis/holder';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { ChannelBroken, type Channels } from './channels';

/** The result of a look at all channels. */
export interface TransfersReport {
  /** Channels whose old entries were taken. */
  readonly finished: number;
  /** Channels with entries that are too young, or that a replica of the sender did not confirm. */
  readonly waiting: number;
  /** Channels that lost entries after these were taken: the collateral is there twice. */
  readonly broken: readonly (readonly [from: number, to: number])[];
}

interface TransfersOptions {
  readonly redis: RedisClient;
  readonly channels: Pick<Channels, 'drain'>;
  readonly shards: readonly ShardKeys[];
  /** Entries that are younger are left to the command that sent them. */
  readonly olderThanMs?: number;
}

const OLDER_THAN_MS = 1_000;
/** Entries are kept so long after they were taken, in case the shard that took them loses that. */
const KEEP_MS = 3_600_000;
const TRIM_MAX = 1_000;

/** One channel as it was read: without a lock, so `got` and `sent` may be of other moments. */
interface ChannelEnds {
  readonly from: number;
  readonly to: number;
  readonly mark: string;
  readonly last: string;
  readonly sent: string;
  readonly got: string;
}

const msOf = (id: string): number => Number(id.split('-')[0]);

/** Takes what commands left on its way when they ended early, forgets old entries, and names channels that lost entries. */
export function createTransfers({ redis, channels, shards, olderThanMs = OLDER_THAN_MS }: TransfersOptions) {
  async function finish(): Promise<TransfersReport> {
    const broken: [number, number][] = [];
    let [finished, waiting] = [0, 0];
    for (const ends of await readEnds(redis, shards)) {
      const { from, to, mark, last, sent, got } = ends;
      if (isBefore(last, mark) || (last === mark && sent !== got && (await isStill(ends)))) {
        broken.push([from, to]);
        continue;
      }
      const nowMs = await timeAt(from);
      if (isBefore(mark, last)) {
        const isDone = nowMs - msOf(await next(ends)) >= olderThanMs && (await taken(ends, broken));
        if (isDone) finished++;
        else waiting++;
      }
      await trim(ends, nowMs);
    }
    return { finished, waiting, broken };
  }

  async function taken({ from, to }: ChannelEnds, broken: [number, number][]): Promise<boolean> {
    try {
      return await channels.drain(from, to);
    } catch (error) {
      if (!(error instanceof ChannelBroken)) throw error;
      broken.push([from, to]);
      return false;
    }
  }

  /** Whether nothing has moved since: the two ends then are of one moment. */
  async function isStill({ from, to, mark, last, sent, got }: ChannelEnds): Promise<boolean> {
    const again = (await readEnds(redis, shards)).find((other) => other.from === from && other.to === to);
    return again?.mark === mark && again.last === last && again.sent === sent && again.got === got;
  }

  /** The id of the oldest entry that is not taken. */
  async function next({ from, to, mark, last }: ChannelEnds): Promise<string> {
    const [entry] = await redis.xrange(keysOf(from).channel(to), `(${mark}`, '+', 'COUNT', 1);
    return entry?.[0] ?? last;
  }

  async function timeAt(shard: number): Promise<number> {
    const [seconds, micros] = await holderOf(redis, keysOf(shard)).time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  /** The entry of the mark stays, because the next one names it. */
  async function trim({ from, to, mark }: ChannelEnds, nowMs: number): Promise<void> {
    if (mark === NO_ENTRY) return;
    const old = `${nowMs - KEEP_MS}-0`;
    await redis.xtrim(
      keysOf(from).channel(to),
      'MINID',
      '~',
      isBefore(old, mark) ? old : mark,
      'LIMIT',
      TRIM_MAX,
    );
  }

  function keysOf(shard: number): ShardKeys {
    const keys = shards[shard];
    if (!keys) throw new RangeError(`no shard ${shard}`);
    return keys;
  }

  return { finish };
}

/** Both ends of every channel that was ever used. */
async function readEnds(redis: RedisClient, shards: readonly ShardKeys[]): Promise<ChannelEnds[]> {
  // The marks first: what is sent after this is behind them.
  const marks = await Promise.all(shards.map((keys) => redis.hgetall(keys.taken)));
  const sums = await Promise.all(shards.map((keys) => redis.hgetall(keys.sums)));
  const ends = shards.flatMap((keys, from) =>
    shards.map(async (_, to): Promise<ChannelEnds | null> => {
      const [sent, got] = [sums[from]?.[`sent:${to}`] ?? '0', sums[to]?.[`got:${from}`] ?? '0'];
      const mark = marks[to]?.[from] ?? NO_ENTRY;
      if (from === to || (sent === '0' && mark === NO_ENTRY)) return null;
      const [entry] = await redis.xrevrange(keys.channel(to), '+', '-', 'COUNT', 1);
      return { from, to, mark, last: entry?.[0] ?? NO_ENTRY, sent, got };
    }),
  );
  return (await Promise.all(ends)).filter((one) => one !== null);
}
