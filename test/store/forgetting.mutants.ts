import { type Lane, startLane } from './fuzzing/lane';
import { FORGETTING } from './fuzzing/planted-forgetting';

/**
 * Proves that the fuzz notices when something leaves Redis that may not, or is lost when it leaves: it finds each of these bugs,
 * planted in a copy of lua/, in every world.
 */
const OPERATIONS = 1_500;
const SEEDS = [1, 2, 5];

let lane: Lane;
beforeAll(async () => {
  lane = await startLane();
});
afterAll(() => lane.stop());

test.each(FORGETTING.map((bug) => [bug[0], bug[1]] as const))(
  '%s: every world notices',
  async (_name, planted) => {
    for (const seed of SEEDS) {
      const outcome = await lane.play({ seed, operations: OPERATIONS, ...planted });
      expect(outcome).toHaveProperty('fault');
      // A script that does not compile proves nothing.
      if ('fault' in outcome) expect(outcome.fault.got).not.toMatch(/compil|nonexistent global/);
    }
  },
  300_000,
);
