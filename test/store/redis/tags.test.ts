import { Command } from 'ioredis';
import { slotOf } from '../../../src/store/redis/holder';
import { createKeys, slotKeyOf } from '../../../src/store/redis/keys';
import { homeOf, SHARD_COUNTS, shardOfMarket, tagOf } from '../../../src/store/redis/tags';

const SLOTS = 16_384;
const TAGS = 64;
const STRETCH = SLOTS / TAGS;

/** CRC16 of XMODEM, from the specification of Redis Cluster. */
function slotOfTag(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++)
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc % SLOTS;
}

const reversed = (k: number): number =>
  Number.parseInt([...k.toString(2).padStart(6, '0')].reverse().join(''), 2);
const ofShard = (k: number): number => slotOfTag(tagOf(k));
const stretchOf = (k: number): number => (Math.floor(slotOfTag('x0') / STRETCH) + reversed(k)) % TAGS;
const isInMiddle = (slot: number): boolean =>
  slot % STRETCH >= STRETCH / 4 && slot % STRETCH < (3 * STRETCH) / 4;
const shards = Array.from({ length: TAGS }, (_, k) => k);

test('the slots that this test computes are those of the client', () => {
  expect(slotOfTag('123456789')).toBe(0x31c3);
  for (const k of shards) expect(ofShard(k)).toBe(new Command('exists', [createKeys(k).orders]).getSlot());
  expect(slotOf(createKeys(0))).toBe(14_243);
});

test('every tag is the first of its shard in the middle of its stretch of slots', () => {
  expect(tagOf(0)).toBe('x0');
  for (const k of shards.slice(1)) {
    const fits = (n: number): boolean => {
      const slot = slotOfTag(`x${k}.${n}`);
      return Math.floor(slot / STRETCH) === stretchOf(k) && isInMiddle(slot);
    };
    let n = 0;
    while (!fits(n)) n++;
    expect(tagOf(k)).toBe(`x${k}.${n}`);
  }
  expect(() => tagOf(TAGS)).toThrow('no shard 64');
  expect(() => tagOf(-1)).toThrow('no shard -1');
});

/** The number of shards on each of the masters of a cluster, which have equal stretches of slots. */
const spread = (count: number, masters: number): number[] => {
  const found = new Array<number>(masters).fill(0);
  for (const k of shards.slice(0, count)) {
    const at = Math.floor((ofShard(k) * masters) / SLOTS);
    found[at] = (found[at] ?? 0) + 1;
  }
  return found;
};

test.each([1, 2, 4, 8, 16])('every number of shards is even on %d masters', (masters) => {
  for (const count of SHARD_COUNTS) {
    const each = count < masters ? [0, 1] : [count / masters];
    expect([count, [...new Set(spread(count, masters))].sort()]).toEqual([count, each]);
  }
});

test.each([3, 5, 6, 7])('with %d masters no master has two shards more than another', (masters) => {
  for (const count of SHARD_COUNTS) {
    const found = spread(count, masters);
    expect([count, Math.max(...found) - Math.min(...found) <= 2]).toEqual([count, true]);
  }
});

test('numbered tags would leave masters empty', () => {
  const found = new Array<number>(8).fill(0);
  for (const k of shards.slice(0, 8)) {
    const at = Math.floor((slotOfTag(`x${k}`) * 8) / SLOTS);
    found[at] = (found[at] ?? 0) + 1;
  }
  expect(found).toEqual([2, 0, 2, 0, 2, 0, 2, 0]);
});

test('the keys and the door of a shard have its tag', () => {
  expect(createKeys(3).orders).toBe('{x3.174}:o');
  expect(slotKeyOf(createKeys(3).orders)).toBe('{x3.174}:door');
  expect(slotKeyOf(createKeys(3).wallet(Buffer.alloc(20, 0x7d)))).toBe('{x3.174}:door');
  expect(createKeys().orders).toBe('{x0}:o');
});

describe('vectors that stored data depends on', () => {
  const wallet = (byte: string): Buffer => Buffer.from(byte.repeat(20), 'hex');

  test.each([
    ['00', 50],
    ['a1', 8],
  ])('the home of the wallet %s… among 64 shards is %d', (byte, home) => {
    expect(homeOf(wallet(byte), 64)).toBe(home);
  });

  test('a wallet has one home among one shard, and its home among more is one of two', () => {
    for (let i = 0; i < 500; i++) {
      const address = Buffer.alloc(20, i);
      address.writeUInt32BE(i * 7_919, 3);
      expect(homeOf(address, 1)).toBe(0);
      for (const count of [1, 2, 4, 8, 16, 32] as const)
        expect(homeOf(address, (2 * count) as 64) % count).toBe(homeOf(address, count));
    }
  });

  test('a market is where the operator puts it, else with its event, else by its id', () => {
    const event = { slug: 'us-election' };
    expect(shardOfMarket({ shard: 3, event, id: 'market01' }, 4)).toBe(3);
    const ofEvent = shardOfMarket({ event, id: 'market01' }, 64);
    expect(shardOfMarket({ event, id: 'market02' }, 64)).toBe(ofEvent);
    expect(shardOfMarket({ event: null, id: 'market01' }, 64)).toBe(shardOfMarket({ id: 'market01' }, 64));
    expect([ofEvent, shardOfMarket({ id: 'market01' }, 64)]).toEqual([28, 36]);
    expect(() => shardOfMarket({ shard: 4, id: 'market01' }, 4)).toThrow('from 0 to 3');
    expect(() => shardOfMarket({ shard: 0.5, id: 'market01' }, 4)).toThrow('from 0 to 3');
  });

  test('wallets and events spread over the shards', () => {
    const counts = new Array<number>(16).fill(0);
    for (let i = 0; i < 16_000; i++) {
      const k = shardOfMarket({ event: { slug: `event-${i}` }, id: '' }, 16);
      counts[k] = (counts[k] ?? 0) + 1;
    }
    expect(Math.max(...counts)).toBeLessThan(1_150);
    expect(Math.min(...counts)).toBeGreaterThan(850);
  });
});
