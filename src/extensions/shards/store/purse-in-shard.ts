import { decodeCash } from '../../../store/records/account';
import { NET } from '../../../store/records/layout';

/** The wallet's collateral in one shard, and what it sent from there and got there, modulo WRAP. */
export interface PurseInShard {
  /** Null when the wallet has no account there. */
  readonly freeMicro: number | null;
  readonly reservedMicro: number;
  readonly nonce: number;
  readonly sentMicro: number;
  readonly gotMicro: number;
}

/** A wallet's purse, as its home knows it. */
export interface AtHome {
  /** The shards in which the wallet may have an account, besides its home, in ascending order. */
  readonly shards: readonly number[];
  /** At home. */
  readonly purse: PurseInShard;
}

/** src/extensions/shards/lua/lib/channel.lua has the same number: what a wallet sent and got is counted modulo it. */
const WRAP = 2 ** 52;
const BITS = 8;

/** The amount on its way according to some purses: a difference of counters that wrap. */
export function inTransitOf(purses: readonly Pick<PurseInShard, 'sentMicro' | 'gotMicro'>[]): number {
  // Each sum is below 2^53, and so exact.
  const sum = purses.reduce((so, { sentMicro, gotMicro }) => (so + (sentMicro - gotMicro)) % WRAP, 0);
  return sum > WRAP / 2 ? sum - WRAP : sum < -WRAP / 2 ? sum + WRAP : sum;
}

export function shardsIn(bitmap: Buffer): number[] {
  const found: number[] = [];
  for (let k = 0; k < bitmap.length * BITS; k++)
    if (((bitmap[Math.floor(k / BITS)] ?? 0) >> (k % BITS)) & 1) found.push(k);
  return found;
}

/** The account, and the value of `netField`, each empty or null when there is none. */
export function purseOf(cash?: Buffer | null, net?: Buffer | null): PurseInShard {
  const account = cash?.length ? decodeCash(cash) : { freeMicro: null, reservedMicro: 0, nonce: 0 };
  return { ...account, ...(net?.length ? NET.read(net) : { sentMicro: 0, gotMicro: 0 }) };
}

/** As hold_purse returns them, and send_collateral with SHORT. */
export const atHomeOf = (bitmap?: Buffer, cash?: Buffer, net?: Buffer): AtHome => ({
  shards: bitmap ? shardsIn(bitmap) : [],
  purse: purseOf(cash, net),
});
