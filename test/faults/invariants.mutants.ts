import { createRandom } from '../support/random';
import { forgive } from '../support/watch';
import { violationsOf } from './invariants';
import { startLoad } from './load';
import { BUGS, type Planted } from './planted';
import { withBug } from './planted-program';
import { startTradingFleet } from './trading-fleet';

/** Orders in a round. Lanes race, so no seed guarantees the match that shows a bug; there are several rounds. */
const ORDERS = 160;
const ROUNDS_MAX = 15;
/** Long enough for a machine ten times as slow, with all rounds. */
const BUG_MS_MAX = 600_000;
/** Shorter than the interval of the reconciler, which would repair the effect of a bug. */
const SETTLED_WITHIN_MS = 3_000;

/** Returns the broken invariants, once the expected one is among them or the rounds have ended. */
async function caught({ expiring = 0, caughtBy, ...bug }: Planted, seed: string): Promise<Set<string>> {
  return withBug(bug, async (program) => {
    const stage = await startTradingFleet({ seed, program, webs: 1, markets: 1, people: 4 });
    try {
      const { journal, markets, people, client } = stage;
      const random = createRandom(3);
      const violated = new Set<string>();
      for (let round = 1; round <= ROUNDS_MAX && !violated.has(caughtBy); round++) {
        const most = round * ORDERS;
        const load = startLoad(journal, { random, markets, people, client, lanes: 6, most, expiring });
        await load.done;
        await load.stop();
        for (const { invariant } of violationsOf(await stage.evidence(SETTLED_WITHIN_MS)))
          violated.add(invariant);
      }
      return violated;
    } finally {
      await stage.stop();
      forgive();
    }
  });
}

test.each(Object.entries(BUGS))(
  '%s: caught',
  async (name, bug) => {
    expect(await caught(bug, name)).toContain(bug.caughtBy);
  },
  BUG_MS_MAX,
);
