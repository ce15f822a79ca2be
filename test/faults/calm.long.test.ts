import { createRandom } from '../support/random';
import { violationsOf } from './invariants';
import { startLoad } from './load';
import { startTradingFleet, type TradingFleet } from './trading-fleet';

let stage: TradingFleet;
beforeAll(async () => {
  stage = await startTradingFleet({ seed: 'calm' });
});
afterAll(() => stage.stop());

test('without faults no invariant is violated, and every action was tried', async () => {
  const { journal, markets, people, client } = stage;
  const load = startLoad(journal, { random: createRandom(1), markets, people, client, lanes: 8, most: 600 });
  await load.done;
  await load.stop();
  const evidence = await stage.evidence();
  expect(evidence.markets.every(({ trades }) => trades.length > 20)).toBe(true);
  const statuses = new Set([...evidence.orders.values()].map((order) => order?.status));
  for (const status of ['OPEN', 'FILLED', 'CANCELLED', 'EXPIRED', undefined])
    expect(statuses).toContain(status);
  expect(journal.wrong).toEqual([]);
  expect(violationsOf(evidence).slice(0, 20)).toEqual([]);
});
