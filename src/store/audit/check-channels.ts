import { formatMicro } from '../../exchange/units';
import { accountName } from '../records/account';
import { CHANNEL_ENTRY } from '../records/layout';
import { isBefore, NO_ENTRY } from '../redis/entry-id';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { homeOf, type ShardCount } from '../redis/tags';
import { createFindings, type DifferenceOf, type Findings } from './report';

type ChannelKind = 'LOST_ENTRIES' | 'IN_TRANSIT' | 'PURSE';

export interface ChannelsReport {
  /**
   * LOST_ENTRIES: a shard took entries that the sender does not have any more. IN_TRANSIT: a channel has another amount than was sent
   * and not taken. PURSE: a wallet's home does not name a shard in which the wallet has an account.
   */
  readonly differences: readonly DifferenceOf<ChannelKind | 'MORE_DIFFERENCES'>[];
  /** Collateral that is on its way between shards now. */
  readonly inTransitMicro: bigint;
}

interface CheckOptions {
  readonly redis: RedisClient;
  readonly shards: readonly ShardKeys[];
}

const STEP = 500;
/** The most times that a channel is read until nothing was taken from it meanwhile. */
const READS_MAX = 20;
const ADDRESS_BYTES = 20;
const BITS = 8;

/** Checks what no audit of one shard sees: each shard is audited by itself (audit.ts), with what it sent and got. */
export async function checkChannels({ redis, shards }: CheckOptions): Promise<ChannelsReport> {
  const findings = createFindings<ChannelKind>();
  let inTransitMicro = 0n;
  for (const [from, donor] of shards.entries()) {
    for (const [to, target] of shards.entries()) {
      if (from !== to) inTransitMicro += await checkChannel(redis, { from, to, donor, target }, findings);
    }
  }
  for (const shard of shards.keys()) await checkPurses({ redis, shards }, shard, findings);
  return { differences: findings.list(), inTransitMicro };
}

interface Channel {
  readonly from: number;
  readonly to: number;
  readonly donor: ShardKeys;
  readonly target: ShardKeys;
}

/** The last entry that the target shard has taken, and the sum of all that it took. */
async function takenOf(redis: RedisClient, { from, target }: Channel): Promise<[mark: string, got: string]> {
  // Keys of one slot, so both are of one moment.
  const replies = await redis
    .multi()
    .hget(target.taken, String(from))
    .hget(target.sums, `got:${from}`)
    .exec();
  const [mark, got] = (replies ?? []).map(([, value]) => value as string | null);
  return [mark ?? NO_ENTRY, got ?? '0'];
}

/** Returns the collateral that is on its way in the channel. */
async function checkChannel(
  redis: RedisClient,
  channel: Channel,
  findings: Findings<ChannelKind>,
): Promise<bigint> {
  const { from, to } = channel;
  const name = `${from} to ${to}`;
  for (let reads = 1; ; reads++) {
    const [mark, got] = await takenOf(redis, channel);
    const { last, amountMicro, sent, follows } = await writtenOf(redis, channel, mark);
    const [markAfter] = await takenOf(redis, channel);
    if (markAfter !== mark && reads < READS_MAX) continue;
    if (isBefore(last, mark) || !follows) {
      const detail =
        'the channel does not go on from the last entry taken: the shard that sent lost entries that the other has';
      findings.add({ kind: 'LOST_ENTRIES', name, detail });
    }
    findings.compare(formatMicro(BigInt(sent) - BigInt(got)), formatMicro(amountMicro), {
      ...{ kind: 'IN_TRANSIT', name, detail: 'entries that are not taken, against what was sent and got' },
    });
    return amountMicro;
  }
}

interface Written {
  readonly last: string;
  readonly sent: string;
  /** Of the entries behind a mark. */
  readonly amountMicro: bigint;
  /** Whether each of these entries names the one before it, and the first of them the mark. */
  readonly follows: boolean;
}

/**
 * The sender's end of a channel at one moment. Entries are only added, and those behind the mark are not trimmed, so they are read
 * in steps up to the last one of that moment.
 */
async function writtenOf(redis: RedisClient, { to, donor }: Channel, mark: string): Promise<Written> {
  const replies = await redis
    .multi()
    .xrevrange(donor.channel(to), '+', '-', 'COUNT', 1)
    .hget(donor.sums, `sent:${to}`)
    .exec();
  const [end, sent] = (replies ?? []).map(([, value]) => value) as [[string, unknown][], string | null];
  const last = end[0]?.[0] ?? NO_ENTRY;
  let [amountMicro, follows, before] = [0n, true, mark];
  while (isBefore(before, last)) {
    const step = await redis.xrangeBuffer(donor.channel(to), `(${before}`, last, 'COUNT', STEP);
    for (const [id, fields] of step) {
      const entry = CHANNEL_ENTRY.read(fields[1] as Buffer);
      amountMicro += BigInt(entry.amountMicro);
      follows &&= before === `${entry.beforeMs}-${entry.beforeIndex}`;
      before = id.toString();
    }
    if (step.length === 0) break;
  }
  return { last, sent: sent ?? '0', amountMicro, follows };
}

/** The home of each wallet with an account in a shard must name that shard. */
async function checkPurses(
  { redis, shards }: CheckOptions,
  shard: number,
  findings: Findings<ChannelKind>,
): Promise<void> {
  const keys = shards[shard] as ShardKeys;
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscanBuffer(keys.cash, cursor, 'COUNT', STEP);
    // The home names a shard before the wallet has an account there, so it is read afterwards.
    const byHome = new Map<number, Buffer[]>();
    for (let i = 0; i < flat.length; i += 2) {
      const wallet = flat[i] as Buffer;
      if (wallet.length !== ADDRESS_BYTES) continue;
      const home = homeOf(wallet, shards.length as ShardCount);
      if (home !== shard) byHome.set(home, [...(byHome.get(home) ?? []), wallet]);
    }
    for (const [home, wallets] of byHome) {
      const bitmaps = await redis.hmgetBuffer((shards[home] as ShardKeys).purses, ...wallets);
      for (const [i, wallet] of wallets.entries()) {
        const byte = bitmaps[i]?.[Math.floor(shard / BITS)] ?? 0;
        if ((byte >> (shard % BITS)) & 1) continue;
        const detail = `the wallet has an account in shard ${shard}, which its home, shard ${home}, does not name`;
        findings.add({ kind: 'PURSE', wallet: accountName(wallet), detail });
      }
    }
    cursor = next.toString();
  } while (cursor !== '0');
}
