import { formatMicro } from '../../exchange/units';
import { accountName } from '../records/account';
import { CHANNEL_ENTRY } from '../records/layout';
import { isBefore, NO_ENTRY } from '../redis/entry-id';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { homeOf, type ShardCount } from '../redis/tags';
import { createFindings, type DifferenceOf, type Findings } from './report';

/**
 * LOST_ENTRIES: a shard took entries that the sender does not have any more. IN_TRANSIT: a channel has another amount than was sent
 * and not taken. PURSE: a wallet's home does not name a shard in which the wallet has an account.
 */
type ChannelKind = 'LOST_ENTRIES' | 'IN_TRANSIT' | 'PURSE';

export interface ChannelsReport {
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
    const { last, amount, sent, follows } = await writtenOf(redis, channel, mark);
    const [markAfter] = await takenOf(redis, channel);
    if (markAfter !== mark && reads < READS_MAX) continue;
    if (isBefore(last, mark) || !follows) {
      const detail = 'the channel does not go on from the last entry taken';
      findings.add({ kind: 'LOST_ENTRIES', name, detail });
    }
    findings.compare(formatMicro(BigInt(sent) - BigInt(got)), formatMicro(amount), {
      ...{ kind: 'IN_TRANSIT', name, detail: 'entries that are not taken, against what was sent and got' },
    });
    return amount;
  }
}

interface Written {
  readonly last: string;
  /** Of the entries behind a mark. */
  readonly amount: bigint;
  readonly sent: string;
  /** Whether each of these entries names the one before it, and the first of them the mark. */
  readonly follows: boolean;
}

/** The sender's end of a channel at one moment. */
async function writtenOf(redis: RedisClient, { to, donor }: Channel, mark: string): Promise<Written> {
  const replies = await redis
    .multi()
    .xrevrange(donor.channel(to), '+', '-', 'COUNT', 1)
    .hget(donor.sums, `sent:${to}`)
    .xrangeBuffer(donor.channel(to), `(${mark}`, '+')
    .exec();
  const [end, sent, behind] = (replies ?? []).map(([, value]) => value) as [
    [string, unknown][],
    string | null,
    [Buffer, Buffer[]][],
  ];
  let [amount, follows, before] = [0n, true, mark];
  for (const [id, fields] of behind) {
    const entry = CHANNEL_ENTRY.read(fields[1] as Buffer);
    amount += BigInt(entry.amountMicro);
    follows &&= before === `${entry.beforeMs}-${entry.beforeIndex}`;
    before = id.toString();
  }
  return { last: end[0]?.[0] ?? NO_ENTRY, amount, sent: sent ?? '0', follows };
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
    const wallets = flat.filter((field, i) => i % 2 === 0 && field.length === ADDRESS_BYTES);
    for (const wallet of wallets) {
      const home = homeOf(wallet, shards.length as ShardCount);
      if (home === shard) continue;
      const bitmap = await redis.hgetBuffer((shards[home] as ShardKeys).purses, wallet);
      const byte = bitmap?.[Math.floor(shard / BITS)] ?? 0;
      if ((byte >> (shard % BITS)) & 1) continue;
      const detail = `the wallet has an account in shard ${shard}, which its home, shard ${home}, does not name`;
      findings.add({ kind: 'PURSE', wallet: accountName(wallet), detail });
    }
    cursor = next.toString();
  } while (cursor !== '0');
}
