import { checkChannels } from '../../../../src/extensions/shards/store/check-channels';
import type { RunningRedis } from '../../../../src/local/redis';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import type { RedisClient } from '../../../../src/store/redis/scripts';
import { operationsOf } from '../../../store/fuzzing/operations';
import type { Patch } from '../../../store/fuzzing/scripts';
import { startTestRedis } from '../../../support/redis';
import { sizeOf } from '../../../support/sample';
import { chooseSeed } from '../../../support/telling';
import { READY_MS } from '../../../support/waiting';
import { playShards, shardWorldOf } from './fuzzing';
import { differencesOf } from './world';

/**
 * Four shards answer as one does: random operations, one after the other, beside the model of one shard. `SEED=17` repeats a world;
 * `SHARD_OPERATIONS=105000` plays as many operations in all.
 */
const WANTED = sizeOf('SHARD_OPERATIONS', 400, 15_000);
const OPERATIONS = Math.min(WANTED, 1_500);
const WORLDS = Math.ceil(WANTED / OPERATIONS);
const LIMIT_MS = 3_600_000;
const COUNT = 4;
const MUST_MEET = [
  ...['BOOKED', 'INSUFFICIENT_BALANCE', 'REPLAYED', 'sent by home: OK', 'sent by home: SHORT'],
];
/** Events that some worlds have, and ten worlds together. */
const MUST_MEET_OFTEN = [
  'replaced',
  ...['INVALID_NONCE_VALUE', 'raised', 'invalidated', 'HALTED', 'expired by the sweep', 'paid RESOLVED'],
  ...['sent by another shard: OK', 'MARKET_NOT_OPEN', 'cancelled all', 'cancelled in several markets'],
  ...['RATE_LIMITED', 'no cancel of all while HALTED'],
];
const OFTEN = 10;

let server: RunningRedis;
let redis: RedisClient;
beforeAll(async () => {
  server = await startTestRedis();
  redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
});
afterAll(async () => {
  disconnect(redis);
  await server.stop();
});

const play = (seed: number, on: RedisClient, patches: readonly Patch[] = [], operations = OPERATIONS) => {
  const world = shardWorldOf(seed);
  return playShards(world, operationsOf(world, operations), { redis: on, count: COUNT, patches });
};

test(
  'four shards do what the model of one shard does',
  async () => {
    const fresh = chooseSeed(`fuzz of four shards, ${WORLDS * OPERATIONS} operations`);
    const total = new Map<string, number>();
    for (let i = 0; i < WORLDS; i++) {
      const { tally, shards, run } = await play(fresh + i, redis);
      expect(await differencesOf({ redis, run, shards })).toEqual([]);
      expect((await checkChannels({ redis, shards })).inTransitMicro).toBe(0n);
      for (const [what, count] of tally) total.set(what, (total.get(what) ?? 0) + count);
    }
    if (process.env.SEED !== undefined) return;
    const wanted = WORLDS < OFTEN ? MUST_MEET : [...MUST_MEET, ...MUST_MEET_OFTEN];
    expect(wanted.filter((what) => !total.has(what))).toEqual([]);
  },
  LIMIT_MS,
);
