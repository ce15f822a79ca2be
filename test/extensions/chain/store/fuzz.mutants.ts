import type { RunningRedis } from '../../../../src/local/redis';
import { startTestRedis } from '../../../support/redis';
import { fuzzChain } from './fuzz-run';
import { BUGS } from './planted';

/**
 * Proves that the fuzz of funds on a chain can fail: the chapter that every run begins with meets each of these bugs.
 */
let server: RunningRedis;
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(() => server.stop());

test.each(['cost', 'limit'] as const)(
  'the chapter passes with a contract that takes the %s',
  async (hold) => {
    await fuzzChain({ url: server.url, seed: 1, operations: 0, hold, feeRateBps: 150 });
  },
);

test.each(BUGS)('the fuzz notices that %s', async (_name, bug) => {
  await expect(fuzzChain({ url: server.url, seed: 1, operations: 0, ...bug })).rejects.toThrow(
    'seed 1, after',
  );
});
