import { CASH, HOME } from '../../../store/records/layout';
import { holderOf } from '../../../store/redis/holder';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { homeOf, type ShardCount } from '../../../store/redis/tags';

interface HomesOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  /** Keys of the shards that the exchange will have. */
  readonly shards: readonly Keys[];
  /** The number of shards that it has. */
  readonly from: ShardCount;
}

/** Fields and names of one step, and wallets of one call (src/extensions/shards/lua/open_home.lua). */
const STEP = 500;
const WALLETS_MAX = 250;
const ADDRESS_BYTES = 20;
const BITMAP_BYTES = 8;
const BITS = 8;

interface Leaving {
  readonly wallet: Buffer;
  readonly home: number;
  readonly cash: Buffer;
}

/**
 * Opens the new homes of wallets whose home changes; returns their number. A home has the account, which shows that
 * the first grant was given, the nonce, the time of the faucet, the shards of the wallet, the list of raised nonces, and the time of
 * the first sign-in. Every new home is a new shard, because the numbers of shards are powers of two.
 */
export async function openHomes(options: HomesOptions): Promise<number> {
  let moved = 0;
  for (const [shard, keys] of options.shards.slice(0, options.from).entries()) {
    moved += await moveAccounts(options, keys, shard);
    await copyProfiles(options, keys, shard);
  }
  return moved;
}

/** The new home of a wallet whose home is this shard; null when it stays. */
function newHome({ shards, from }: HomesOptions, wallet: Buffer, shard: number): number | null {
  const home = homeOf(wallet, shards.length as ShardCount);
  return home !== shard && homeOf(wallet, from) === shard ? home : null;
}

async function moveAccounts(options: HomesOptions, keys: Keys, shard: number): Promise<number> {
  let [moved, cursor] = [0, '0'];
  do {
    const [next, flat] = await options.redis.hscanBuffer(keys.cash, cursor, 'COUNT', STEP);
    const leaving: Leaving[] = [];
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const [wallet, cash] = [flat[i] as Buffer, flat[i + 1] as Buffer];
      if (wallet.length !== ADDRESS_BYTES) continue;
      const home = newHome(options, wallet, shard);
      if (home !== null) leaving.push({ wallet, home, cash });
    }
    for (let at = 0; at < leaving.length; at += STEP)
      await openAll(options, keys, shard, leaving.slice(at, at + STEP));
    moved += leaving.length;
    cursor = next.toString();
  } while (cursor !== '0');
  return moved;
}

async function openAll(
  { redis, run, shards }: HomesOptions,
  keys: Keys,
  shard: number,
  leaving: readonly Leaving[],
): Promise<void> {
  const wallets = leaving.map(({ wallet }) => wallet);
  const [bitmaps, raised] = await Promise.all([
    redis.hmgetBuffer(keys.purses, ...wallets),
    redis.hmgetBuffer(keys.raisedNonces, ...wallets),
  ]);
  const calls = new Map<number, Buffer[]>();
  for (const [i, { home, wallet, cash }] of leaving.entries()) {
    const packed = packHome(wallet, cash, withShard(bitmaps[i] ?? null, shard), Number(raised[i] ?? 0));
    const call = calls.get(home);
    if (call) call.push(packed);
    else calls.set(home, [packed]);
  }
  const asked = [...calls].map(async ([home, packed]) => {
    const to = shards[home] as Keys;
    for (let at = 0; at < packed.length; at += WALLETS_MAX) {
      const args = [to.prefix, ...packed.slice(at, at + WALLETS_MAX)] as const;
      await run('open_home', [to.cash, to.purses, to.raisedNonces], args);
    }
  });
  await Promise.all(asked);
}

/** The bitmap of a wallet's shards with one more: its old home, where its collateral is. */
function withShard(bitmap: Buffer | null, shard: number): Buffer {
  const more = Buffer.alloc(BITMAP_BYTES);
  bitmap?.copy(more);
  const at = Math.floor(shard / BITS);
  more[at] = (more[at] ?? 0) | (1 << (shard % BITS));
  return more;
}

function packHome(wallet: Buffer, cash: Buffer, shards: Buffer, raised: number): Buffer {
  const { nonce, faucetMs } = CASH.get;
  return HOME.pack({ wallet, nonce: nonce(cash), faucetMs: faucetMs(cash), shards, raised });
}

/**
 * A wallet that has signed in may have no account. A mute, which the first shard has of every wallet, is needed wherever a wallet may
 * comment.
 */
async function copyProfiles(options: HomesOptions, keys: Keys, shard: number): Promise<void> {
  const { redis, shards } = options;
  const node = holderOf(redis, keys);
  const start = `${keys.prefix}p:`;
  let cursor = '0';
  do {
    const [next, names] = await node.scanBuffer(cursor, 'MATCH', `${start}*`, 'COUNT', STEP);
    const copied = names.map(async (name) => {
      const wallet = name.subarray(start.length);
      if (wallet.length !== ADDRESS_BYTES) return;
      const home = newHome(options, wallet, shard);
      if (home === null && shard > 0) return;
      const [joinedMs, muted] = await redis.hmget(keys.profile(wallet), 'j', 'm');
      if (home !== null && joinedMs)
        await redis.hsetnx((shards[home] as Keys).profile(wallet), 'j', joinedMs);
      if (shard === 0 && muted)
        await Promise.all(shards.slice(1).map((to) => redis.hset(to.profile(wallet), 'm', muted)));
    });
    await Promise.all(copied);
    cursor = next.toString();
  } while (cursor !== '0');
}
