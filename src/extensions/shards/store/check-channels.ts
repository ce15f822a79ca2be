import { formatMicro } from '../../../exchange/units';
import { createFindings, type DifferenceOf, type Findings } from '../../../store/audit/report';
import { accountName, NET_FIELDS } from '../../../store/records/account';
import { sumDifference } from '../../../store/records/channel-sum';
import { CHANNEL_ENTRY, NET } from '../../../store/records/layout';
import { isBefore, NO_ENTRY } from '../../../store/redis/entry-id';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { homeOf, type ShardCount } from '../../../store/redis/tags';

type ChannelKind = 'LOST_ENTRIES' | 'IN_TRANSIT' | 'TRANSFERS' | 'PURSE';

export interface ChannelsReport {
  /**
   * LOST_ENTRIES: a shard took entries that the sender does not have any more. IN_TRANSIT: a channel has another amount than was sent
   * and not taken. TRANSFERS: the wallets of a shard sent and got another amount there than its channels. PURSE: a wallet's home does not name a shard in which the wallet has an account.
   */
  readonly differences: readonly DifferenceOf<ChannelKind | 'MORE_DIFFERENCES'>[];
  /** Collateral that is on its way between shards now. */
  readonly inTransitMicro: bigint;
}

interface CheckOptions {
  readonly redis: RedisClient;
  readonly shards: readonly Keys[];
}

const STEP = 500;
/** The most times that a channel is read until nothing was taken from it meanwhile. */
const READS_MAX = 20;
/** The most times that the wallets of a shard are read until nothing moved meanwhile. */
const NET_READS_MAX = 3;
/** src/extensions/shards/lua/lib/channel.lua has the same number. */
const WRAP = 2n ** 52n;
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
  for (const [shard, keys] of shards.entries()) await checkNets(redis, shard, keys, findings);
  for (const shard of shards.keys()) await checkPurses({ redis, shards }, shard, findings);
  return { differences: findings.list(), inTransitMicro };
}

interface Channel {
  readonly from: number;
  readonly to: number;
  readonly donor: Keys;
  readonly target: Keys;
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
    findings.compare(formatMicro(sumDifference(BigInt(sent) - BigInt(got))), formatMicro(amountMicro), {
      kind: 'IN_TRANSIT',
      name,
      detail: 'entries that are not taken, against what was sent and got',
    });
    return amountMicro;
  }
}

interface Written {
  readonly last: string;
  readonly sent: string;
  /** Sum of the entries behind a mark. */
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

/** The collateral that a shard sent and did not get, by its channels, with the counters of which that is made. */
async function movedIn(redis: RedisClient, { sums }: Keys): Promise<{ micro: bigint; text: string }> {
  const counters = Object.entries(await redis.hgetall(sums)).filter(([name]) => /^(sent|got):/.test(name));
  const micro = counters.reduce(
    (sum, [name, value]) => sum + (name.startsWith('sent') ? BigInt(value) : -BigInt(value)),
    0n,
  );
  return { micro, text: counters.sort().join() };
}

/**
 * Balances are made of what each wallet sent and got in a shard, which is counted modulo WRAP. It is compared when nothing moved while
 * it was read; where collateral moves all the time, it is left to the next audit.
 */
async function checkNets(
  redis: RedisClient,
  shard: number,
  keys: Keys,
  findings: Findings<ChannelKind>,
): Promise<void> {
  for (let reads = 0; reads < NET_READS_MAX; reads++) {
    const before = await movedIn(redis, keys);
    const found = await netOf(redis, keys);
    const after = await movedIn(redis, keys);
    if (before.text !== after.text) continue;
    if ((before.micro - found) % WRAP === 0n) return;
    findings.compare(formatMicro(before.micro), formatMicro(found), {
      kind: 'TRANSFERS',
      name: String(shard),
      detail: 'what the wallets of the shard sent and did not get, against its channels',
    });
    return;
  }
}

async function netOf(redis: RedisClient, { cash }: Keys): Promise<bigint> {
  // A scan may name a field twice.
  const seen = new Set<string>();
  let [sum, cursor] = [0n, '0'];
  do {
    const [next, flat] = await redis.hscanBuffer(cash, cursor, 'MATCH', NET_FIELDS, 'COUNT', STEP);
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const wallet = (flat[i] as Buffer).toString('latin1');
      const { sentMicro, gotMicro } = NET.read(flat[i + 1] as Buffer);
      if (!seen.has(wallet)) sum += BigInt(sentMicro) - BigInt(gotMicro);
      seen.add(wallet);
    }
    cursor = next.toString();
  } while (cursor !== '0');
  return sum;
}

/** The home of each wallet with an account in a shard must name that shard. */
async function checkPurses(
  { redis, shards }: CheckOptions,
  shard: number,
  findings: Findings<ChannelKind>,
): Promise<void> {
  const keys = shards[shard] as Keys;
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
      const bitmaps = await redis.hmgetBuffer((shards[home] as Keys).purses, ...wallets);
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
