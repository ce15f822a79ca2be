import { Refusal } from '../../../exchange/errors';
import { NET_FIELDS } from '../../../store/records/account';
import { sumDifference } from '../../../store/records/channel-sum';
import { CHANNEL_ENTRY, NET } from '../../../store/records/layout';
import { NO_ENTRY } from '../../../store/redis/entry-id';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { inTransitOf } from './purse-in-shard';

/** An entry that the other shard has yet to take. */
export interface KeptEntry {
  /** 20 bytes. */
  readonly wallet: Buffer;
  readonly amountMicro: number;
  readonly nonce: number;
}

/** A channel whose sender lost entries that the other shard has taken. */
export interface BrokenChannel {
  readonly from: number;
  readonly to: number;
  /** Id of the last entry that was taken. */
  readonly mark: string;
  /** Id of the last entry that the sender has. */
  readonly last: string;
  readonly kept: KeptEntry[];
  /** The collateral that the sender still has, and the other shard has taken. */
  lackMicro: number;
}

interface DamageOptions {
  readonly redis: RedisClient;
  readonly shards: readonly Keys[];
}

const STEP = 500;
const ADDRESS_BYTES = 20;

/** While the exchange is HALTED nothing is sent, and nothing is taken from a broken channel. */
export async function readBroken(
  { redis, shards }: DamageOptions,
  from: number,
  to: number,
): Promise<BrokenChannel> {
  const [donor, target] = [shards[from] as Keys, shards[to] as Keys];
  const [mark, got, sent, [end]] = await Promise.all([
    redis.hget(target.taken, String(from)),
    redis.hget(target.sums, `got:${from}`),
    redis.hget(donor.sums, `sent:${to}`),
    redis.xrevrange(donor.channel(to), '+', '-', 'COUNT', 1),
  ]);
  const kept: KeptEntry[] = [];
  for (let at = mark ?? NO_ENTRY; ; ) {
    const entries = await redis.xrangeBuffer(donor.channel(to), `(${at}`, '+', 'COUNT', STEP);
    for (const [id, fields] of entries) {
      kept.push(CHANNEL_ENTRY.read(fields[1] as Buffer));
      at = id.toString();
    }
    if (entries.length < STEP) break;
  }
  const keptMicro = kept.reduce((sum, { amountMicro }) => sum + BigInt(amountMicro), 0n);
  const lackMicro = Number(sumDifference(BigInt(got ?? 0) - BigInt(sent ?? 0) + keptMicro));
  return { from, to, mark: mark ?? NO_ENTRY, last: end?.[0] ?? NO_ENTRY, kept, lackMicro };
}

/**
 * The wallets that have collateral twice, and how much: what they got in all shards, less what they sent, and what is on its way to
 * them. A wallet whose entry has the id of an older one, because the sender's clock was behind, is owed collateral: its entry is
 * written again.
 */
export async function excessOf(
  options: DamageOptions,
  broken: BrokenChannel[],
): Promise<Map<string, number>> {
  const sums = await netsOf(options);
  for (const { kept } of broken)
    for (const { wallet, amountMicro } of kept) add(sums, wallet.toString('latin1'), amountMicro);
  const excess = new Map<string, number>();
  for (const [wallet, amountMicro] of sums) {
    if (amountMicro > 0) excess.set(wallet, amountMicro);
    if (amountMicro >= 0) continue;
    const channel = broken.reduce((least, one) => (one.lackMicro < least.lackMicro ? one : least));
    channel.kept.push({ wallet: Buffer.from(wallet, 'latin1'), amountMicro: -amountMicro, nonce: 0 });
    channel.lackMicro -= amountMicro;
  }
  const total = [...excess.values()].reduce((sum, amountMicro) => sum + amountMicro, 0);
  const lacking = broken.reduce((sum, { lackMicro }) => sum + lackMicro, 0);
  if (total === lacking && broken.every(({ lackMicro }) => lackMicro >= 0)) return excess;
  throw new Refusal(
    'UNAVAILABLE',
    'what the wallets have twice is not what the channels lack: shards lost more than entries; restore a backup',
  );
}

/** What each wallet that ever moved collateral got in all shards, less what it sent. */
async function netsOf({ redis, shards }: DamageOptions): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for (const { cash } of shards) {
    let cursor = '0';
    const seen = new Set<string>();
    do {
      const [next, flat] = await redis.hscanBuffer(cash, cursor, 'MATCH', NET_FIELDS, 'COUNT', STEP);
      for (let i = 0; i + 1 < flat.length; i += 2) {
        const wallet = (flat[i] as Buffer).toString('latin1', 0, ADDRESS_BYTES);
        // A scan may name a field twice.
        if (!seen.has(wallet)) add(sums, wallet, -inTransitOf([NET.read(flat[i + 1] as Buffer)]));
        seen.add(wallet);
      }
      cursor = next.toString();
    } while (cursor !== '0');
  }
  return sums;
}

const WRAP = 2 ** 52;

function add(sums: Map<string, number>, wallet: string, amountMicro: number): void {
  const sum = ((sums.get(wallet) ?? 0) + amountMicro) % WRAP;
  sums.set(wallet, sum > WRAP / 2 ? sum - WRAP : sum < -WRAP / 2 ? sum + WRAP : sum);
}
