import { Command } from 'ioredis';
import { queuesOf } from '../../src/jobs/queues';
import { jobsPrefix } from '../../src/jobs/tags';
import { tagOf } from '../../src/store/redis/tags';

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

const stretchOf = (slot: number): number => Math.floor(slot / STRETCH);
const isInMiddle = (slot: number): boolean =>
  slot % STRETCH >= STRETCH / 4 && slot % STRETCH < (3 * STRETCH) / 4;
const others = Array.from({ length: TAGS - 1 }, (_, i) => i + 1);

test('the jobs of every other shard are in the stretch of slots that has its data, under the first tag that fits', () => {
  expect(jobsPrefix(0)).toBe('{jobs}');
  for (const k of others) {
    const stretch = stretchOf(slotOfTag(tagOf(k)));
    const fits = (n: number): boolean => {
      const slot = slotOfTag(`j${k}.${n}`);
      return stretchOf(slot) === stretch && isInMiddle(slot);
    };
    let n = 0;
    while (!fits(n)) n++;
    expect(jobsPrefix(k)).toBe(`{j${k}.${n}}`);
    const key = `${jobsPrefix(k)}:settlement-${k}:wait`;
    expect(slotOfTag(`j${k}.${n}`)).toBe(new Command('exists', [key]).getSlot());
  }
  for (const wrong of [-1, TAGS]) expect(() => jobsPrefix(wrong)).toThrow(`no partition ${wrong}`);
});

test('one shard has the queues that it always had, and each further shard one queue more', () => {
  const one = queuesOf(1, []);
  expect(one[0]).toEqual({ name: 'settlement', prefix: '{jobs}' });
  expect([...new Set(one.map(({ prefix }) => prefix))]).toEqual(['{jobs}']);
  const four = queuesOf(4, []);
  expect(four.slice(0, 4)).toEqual([
    { name: 'settlement', prefix: '{jobs}' },
    { name: 'settlement-1', prefix: '{j1.43}' },
    { name: 'settlement-2', prefix: '{j2.29}' },
    { name: 'settlement-3', prefix: '{j3.320}' },
  ]);
  expect(four).toEqual(expect.arrayContaining([...one]));
  expect(new Set(four.map(({ name }) => name)).size).toBe(four.length);
});
