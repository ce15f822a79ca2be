import { partAt } from '../../../store/lists/list';
import { isBefore, NO_ENTRY } from '../../../store/redis/entry-id';
import { holderOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { ChannelBroken, type Channels } from './channels';

/** The result of a look at all channels. */
export interface TransfersReport {
  /** Channels whose old entries were taken. */
  readonly finished: number;
  /** Channels with entries that are too young, or that a replica of the sender did not confirm. */
  readonly waiting: number;
  /** Channels that lost entries after these were taken: the collateral is there twice. */
  readonly broken: readonly (readonly [from: number, to: number])[];
  /** Shards that did not answer, and channels at which a step failed; all others were looked at. */
  readonly failures: readonly string[];
}

interface TransfersOptions {
  readonly redis: RedisClient;
  readonly channels: Pick<Channels, 'drain'>;
  readonly shards: readonly Keys[];
  /** Entries that are younger are left to the command that sent them. */
  readonly olderThanMs?: number;
}

const OLDER_THAN_MS = 1_000;
/** The time for which entries are kept after they were taken, in case the shard that took them loses that. */
const KEEP_MS = 3_600_000;
const TRIM_MAX = 1_000;

/** One channel as it was read: without a lock, so `got` and `sent` may be of other moments. */
export interface ChannelEnds {
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
  const keysOf = (shard: number): Keys => partAt(shards, shard);

  async function finish(): Promise<TransfersReport> {
    const [broken, failures]: [[number, number][], string[]] = [[], []];
    let [finished, waiting] = [0, 0];
    const { ends, silent } = await readEnds(redis, shards);
    const looks = ends.map(async (one) => {
      try {
        const result = await finishOne(one, broken);
        if (result === 'FINISHED') finished++;
        if (result === 'WAITING') waiting++;
      } catch (error) {
        failures.push(`channel ${one.from} to ${one.to}: ${error instanceof Error ? error.message : error}`);
      }
    });
    await Promise.all(looks);
    return { finished, waiting, broken, failures: [...silent, ...failures] };
  }

  async function finishOne(
    ends: ChannelEnds,
    broken: [number, number][],
  ): Promise<'EMPTY' | 'FINISHED' | 'WAITING' | 'BROKEN'> {
    const { from, to, mark, last, sent, got } = ends;
    if (isBefore(last, mark) || (last === mark && sent !== got && (await isStill(ends)))) {
      broken.push([from, to]);
      return 'BROKEN';
    }
    const nowMs = await timeAt(from);
    const isEmpty = !isBefore(mark, last);
    const isDone = !isEmpty && nowMs - msOf(await next(ends)) >= olderThanMs && (await taken(ends, broken));
    await trim(ends, nowMs);
    if (isEmpty) return 'EMPTY';
    return isDone ? 'FINISHED' : 'WAITING';
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
    const again = (await readEnds(redis, shards)).ends.find(
      (other) => other.from === from && other.to === to,
    );
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

  return { finish };
}

/** Both ends of every channel that was ever used, between shards that answer; and of each other one why it did not. */
export async function readEnds(
  redis: RedisClient,
  shards: readonly Keys[],
): Promise<{ readonly ends: readonly ChannelEnds[]; readonly silent: readonly string[] }> {
  // The marks first: what is sent after this is behind them.
  const marks = await Promise.allSettled(shards.map((keys) => redis.hgetall(keys.taken)));
  const sums = await Promise.allSettled(shards.map((keys) => redis.hgetall(keys.sums)));
  const silent = [...marks, ...sums].flatMap((one, i) =>
    one.status === 'rejected' ? [`shard ${i % shards.length}: ${one.reason}`] : [],
  );
  const answered = (shard: number) => {
    const [mark, sum] = [marks[shard], sums[shard]];
    return mark?.status === 'fulfilled' && sum?.status === 'fulfilled'
      ? { marks: mark.value, sums: sum.value }
      : null;
  };
  const ends = shards.flatMap((keys, from) =>
    shards.map(async (_, to): Promise<ChannelEnds | null> => {
      const [donor, target] = [answered(from), answered(to)];
      if (from === to || !donor || !target) return null;
      const [sent, got] = [donor.sums[`sent:${to}`] ?? '0', target.sums[`got:${from}`] ?? '0'];
      const mark = target.marks[from] ?? NO_ENTRY;
      if (sent === '0' && mark === NO_ENTRY) return null;
      const [entry] = await redis.xrevrange(keys.channel(to), '+', '-', 'COUNT', 1);
      return { from, to, mark, last: entry?.[0] ?? NO_ENTRY, sent, got };
    }),
  );
  const found = await Promise.allSettled(ends);
  return {
    ends: found.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : [])),
    silent,
  };
}
