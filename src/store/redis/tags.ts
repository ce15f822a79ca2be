import { createHash } from 'node:crypto';

/**
 * The shards of an exchange: how many there are, the hash tag of each, and which of them has a wallet's home and a market.
 * Stored data depends on every answer of this module, so none may ever change; test/store/redis/tags.test.ts has vectors.
 */
export const SHARD_COUNTS = [1, 2, 4, 8, 16, 32, 64] as const;
export type ShardCount = (typeof SHARD_COUNTS)[number];

/**
 * The hash tags. A cluster divides its 16,384 slots into one stretch for each master, so tags that are numbered leave some
 * masters empty. Here shard k is in the k-th of 64 equal stretches, counted from that of `x0` in bit-reversed order, so the
 * first 2, 4, 8… shards are as far apart as they can be. `x<k>.<n>` has the least n whose slot is in the middle half of the
 * stretch, so that masters may also differ by a few slots.
 */
const TAGS = [
  ...['x0', 'x1.43', 'x2.29', 'x3.174', 'x4.124', 'x5.142', 'x6.36', 'x7.11'],
  ...['x8.11', 'x9.36', 'x10.159', 'x11.362', 'x12.340', 'x13.326', 'x14.32', 'x15.15'],
  ...['x16.350', 'x17.336', 'x18.159', 'x19.21', 'x20.17', 'x21.30', 'x22.301', 'x23.6'],
  ...['x24.32', 'x25.15', 'x26.168', 'x27.6', 'x28.146', 'x29.38', 'x30.169', 'x31.352'],
  ...['x32.343', 'x33.68', 'x34.60', 'x35.47', 'x36.57', 'x37.70', 'x38.143', 'x39.5'],
  ...['x40.14', 'x41.33', 'x42.59', 'x43.366', 'x44.331', 'x45.6', 'x46.47', 'x47.60'],
  ...['x48.303', 'x49.24', 'x50.51', 'x51.76', 'x52.66', 'x53.41', 'x54.323', 'x55.4'],
  ...['x56.43', 'x57.64', 'x58.59', 'x59.133', 'x60.48', 'x61.353', 'x62.150', 'x63.24'],
] as const;

export function tagOf(shard: number): string {
  const tag = TAGS[shard];
  if (tag === undefined) throw new RangeError(`no shard ${shard}`);
  return tag;
}

/** The first 32 bits of the SHA-256 of the bytes, as a remainder of the number of shards. */
const placeOf = (bytes: Buffer | string, shards: ShardCount): number =>
  createHash('sha256').update(bytes).digest().readUInt32BE(0) % shards;

/** The home shard of a wallet (20 bytes): its first grant, its faucet and its nonce are there. */
export const homeOf = (wallet: Buffer, shards: ShardCount): number => placeOf(wallet, shards);

interface Placed {
  /** The operator's choice. */
  readonly shard?: number;
  /** The markets of an event are together, because those who trade one of them trade the others. */
  readonly event?: { readonly slug: string } | null;
  readonly id: string;
}

/** The shard of a market. It is chosen once, when the market is created. */
export function shardOfMarket({ shard, event, id }: Placed, shards: ShardCount): number {
  if (shard === undefined) return placeOf(event ? `event ${event.slug}` : `market ${id}`, shards);
  if (!Number.isInteger(shard) || shard < 0 || shard >= shards)
    throw new RangeError(`shard must be a whole number from 0 to ${shards - 1}`);
  return shard;
}
