import type { Mode } from '../../../exchange/status';
import { readMode } from '../../../store/health/health';
import { FEE_ACCOUNT, NET_FIELDS } from '../../../store/records/account';
import { sumDifference } from '../../../store/records/channel-sum';
import { CHANNEL_ENTRY } from '../../../store/records/layout';
import { isBefore } from '../../../store/redis/entry-id';
import { holderOf, placeOf, slotOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { tagOf } from '../../../store/redis/tags';
import { type ChannelEnds, readEnds } from './transfers';

export interface ShardFacts {
  readonly shard: number;
  readonly tag: string;
  readonly slot: number;
  /** Host and port of the Redis that has it; null in a cluster in which no node has its slot. */
  readonly node: string | null;
  /** Null when it answers, else why it does not. */
  readonly silence: string | null;
  /** Null when it does not answer. */
  readonly content: ShardContent | null;
}

export interface ShardContent {
  readonly markets: number;
  readonly openOrders: number;
  /** Number of wallets with an account. */
  readonly accounts: number;
  readonly mode: Mode;
  /** Null before a process has used the shard. */
  readonly epoch: string | null;
}

/** A channel that was used, between two shards that answer. */
export interface ChannelFacts {
  readonly from: number;
  readonly to: number;
  readonly inTransitMicro: bigint;
  /** The sender lost collateral that the other shard has taken. */
  readonly isBroken: boolean;
}

interface ListOptions {
  readonly redis: RedisClient;
  readonly shards: readonly Keys[];
}

/** Markets whose books are counted at once. */
const STEP = 500;
/** A channel that moves while it is read may seem broken; it is read up to this many times. */
const LOOKS_MAX = 5;

/** Every shard with what is in it. One that does not answer is a row, not an error. */
export const listShards = (options: ListOptions): Promise<ShardFacts[]> =>
  Promise.all(options.shards.map((keys, shard) => factsOf(options.redis, keys, shard)));

async function factsOf(redis: RedisClient, keys: Keys, shard: number): Promise<ShardFacts> {
  const place = { shard, tag: tagOf(shard), slot: slotOf(keys) };
  try {
    holderOf(redis, keys);
    const content = await contentOf(redis, keys);
    return { ...place, node: placeOf(redis, keys), silence: null, content };
  } catch (error) {
    const silence = error instanceof Error ? error.message : String(error);
    return { ...place, node: placeOf(redis, keys), silence, content: null };
  }
}

async function contentOf(redis: RedisClient, keys: Keys): Promise<ShardContent> {
  const [ids, accounts, { mode }, epoch] = await Promise.all([
    redis.hkeys(keys.markets),
    countAccounts(redis, keys),
    readMode(redis, keys),
    redis.hget(keys.epoch, 'name'),
  ]);
  let openOrders = 0;
  for (let at = 0; at < ids.length; at += STEP) {
    const books = ids.slice(at, at + STEP).flatMap((id) => [keys.bids(id), keys.asks(id)]);
    for (const count of await Promise.all(books.map((book) => redis.zcard(book)))) openOrders += count;
  }
  return { markets: ids.length, openOrders, accounts, mode, epoch };
}

/** Counts the wallets with an account. */
async function countAccounts(redis: RedisClient, keys: Keys): Promise<number> {
  // A scan may name a field twice.
  const nets = new Set<string>();
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscanBuffer(keys.cash, cursor, 'MATCH', NET_FIELDS, 'COUNT', STEP);
    for (let i = 0; i < flat.length; i += 2) nets.add((flat[i] as Buffer).toString('latin1'));
    cursor = next.toString();
  } while (cursor !== '0');
  const [fields, fees] = [await redis.hlen(keys.cash), await redis.hexists(keys.cash, FEE_ACCOUNT)];
  return fields - nets.size - fees;
}

/** The channels that were used, in the order of their shards. */
export async function listChannels({ redis, shards }: ListOptions): Promise<ChannelFacts[]> {
  const { ends } = await readEnds(redis, shards);
  const found: ChannelFacts[] = [];
  for (const one of ends) {
    let end = one;
    let isBroken = await seemsBroken(redis, shards, end);
    for (let look = 1; isBroken && look < LOOKS_MAX; look++) {
      const again = (await readEnds(redis, shards)).ends.find(
        ({ from, to }) => from === one.from && to === one.to,
      );
      if (!again || isSame(again, end)) break;
      end = again;
      isBroken = await seemsBroken(redis, shards, end);
    }
    const inTransitMicro = sumDifference(BigInt(end.sent) - BigInt(end.got));
    found.push({ from: one.from, to: one.to, inTransitMicro, isBroken });
  }
  return found;
}

/** Whether the sender lost what the other shard took: its next entry names another one before it than the mark. */
async function seemsBroken(
  redis: RedisClient,
  shards: readonly Keys[],
  { from, to, mark, last, sent, got }: ChannelEnds,
): Promise<boolean> {
  if (isBefore(last, mark)) return true;
  if (last === mark) return sent !== got;
  const channel = (shards[from] as Keys).channel(to);
  const [next] = await redis.xrangeBuffer(channel, `(${mark}`, '+', 'COUNT', 1);
  if (!next) return false;
  const { beforeMs, beforeIndex } = CHANNEL_ENTRY.read(next[1][1] as Buffer);
  return `${beforeMs}-${beforeIndex}` !== mark;
}

const isSame = (a: ChannelEnds, b: ChannelEnds): boolean =>
  a.mark === b.mark && a.last === b.last && a.sent === b.sent && a.got === b.got;
