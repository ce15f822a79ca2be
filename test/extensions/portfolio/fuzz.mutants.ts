import { Redis } from 'ioredis';
import type { RunningRedis } from '../../../src/local/redis';
import { startTestRedis } from '../../support/redis';
import { type Connections, playJournal } from './fuzzing';
import { JOURNAL } from './planted';

/** Proves that the comparison of the journal can fail: it finds each of these bugs. */
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

test.each(JOURNAL)('%s is caught', async (_, patch) => {
  // By a comparison, or by a mark that never arrives; not by a script that does not compile.
  await expect(playJournal(1, connections, [patch])).rejects.toThrow(/expect|catching up/);
});
