import type { RunningRedis } from '../../../../src/local/redis';
import { startTestRedis } from '../../../support/redis';
import { sizeOf } from '../../../support/sample';
import { freshSeed, tell } from '../../../support/telling';
import { fuzzChain } from './fuzz-run';

/**
 * Random orders, matches, transfers and blocks with funds on a chain, compared with a model after each. `SEED=17 npx jest
 * test/extensions/chain/store/fuzz.test.ts` replays one; `FUZZ_WORLDS=40` plays that many.
 */
const OPERATIONS = 100;
const WORLDS = sizeOf('FUZZ_WORLDS', 1, 10);
const LIMIT_MS = 900_000;
const fresh = freshSeed();
const seeds = process.env.SEED
  ? [Number(process.env.SEED)]
  : [...Array.from({ length: WORLDS }, (_, i) => i + 1), fresh];

let server: RunningRedis;
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(() => server.stop());

test(
  'the books of funds on a chain say what the model says, and never count on more than the chain has',
  async () => {
    tell(`seeds ${seeds.join(' ')} of the fuzz of funds on a chain; SEED=${fresh} repeats the new one`);
    const total = new Map<string, number>();
    for (const seed of seeds) {
      const hold = seed % 2 === 0 ? 'limit' : 'cost';
      const feeRateBps = seed % 3 === 0 ? 0 : 150;
      const tally = await fuzzChain({ url: server.url, seed, operations: OPERATIONS, hold, feeRateBps });
      for (const [what, times] of tally) total.set(what, (total.get(what) ?? 0) + times);
    }
    if (process.env.SEED) return;
    const met = [...total].map(([what, times]) => `${what}: ${times}`).sort();
    tell(met.join(', '));
    for (const what of ['matched COMPLEMENTARY', 'matched MINT', 'matched MERGE', 'confirmed true', 'failed'])
      expect(met).toContainEqual(expect.stringMatching(`^${what}: `));
  },
  LIMIT_MS,
);
