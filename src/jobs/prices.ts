import type { CandleWriter } from '../store/candles/writer';
import { runEachMarket } from './run-each';
import type { Chore } from './schedule';

/** Reads add the matches that are not stored yet: a longer interval would be as exact, but would make reads more expensive. */
const COUNT_EVERY_MS = 2_000;
/** Steps of one tick for one market, a few hundred matches each; the next tick continues. */
const STEPS_MAX = 1_000;

/** Counts matches into the stored candles, market by market. */
export function createPriceChore(candles: CandleWriter): Chore {
  return {
    name: 'count-candles',
    everyMs: COUNT_EVERY_MS,
    async run() {
      await runEachMarket(await candles.behind(), async (id) => {
        for (let step = 0; step < STEPS_MAX && (await candles.extend(id)); step++);
      });
    },
  };
}
