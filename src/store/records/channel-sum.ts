/** src/extensions/shards/lua/lib/channel.lua takes 2^62 off a sum of a channel before it is too large. */
const SUM_BITS = 62;

/** The difference of sums of channels, `sent:<b>` and `got:<a>`: exact for less than 2^61 micro-units. */
export const sumDifference = (difference: bigint): bigint => BigInt.asIntN(SUM_BITS, difference);
