import { Redis } from 'ioredis';
import type { RunningRedis } from '../../../src/local/redis';
import { startTestRedis } from '../../support/redis';
import { chooseSeed } from '../../support/telling';
import { type Connections, playJournal } from './fuzzing';

/**
 * Compares positions and journals with a naive count of the same random operations.
 * `SEED=17 npx jest test/extensions/portfolio/fuzz.long.test.ts` replays one world.
 */
const chosen = chooseSeed('fuzz of the journal');
const seeds = process.env.SEED ? [chosen] : [1, 6, chosen];

let server: RunningRedis;
let connections: Connections;
beforeAll(async () => {
  server = await startTestRedis();
  connections = [new Redis(server.url), new Redis(server.url)];
});
afterAll(async () => {
  for (const redis of connections) redis.disconnect();
  await server.stop();
});

test.each(seeds)(
  'the books equal a naive count, world %d',
  (seed) => playJournal(seed, connections),
  120_000,
);
