import { createPriceChore } from '../../src/jobs/prices';
import type { RunningRedis } from '../../src/local/redis';
import { createHistory } from '../../src/store/candles/history';
import { createCandleWriter } from '../../src/store/candles/writer';
import { createMarket, expectedDay, nextMs, openStore, type Store } from '../store/trading';
import { createRandom } from '../support/random';
import { startTestRedis } from '../support/redis';
import { chooseSeed } from '../support/telling';

const SEED = chooseSeed('prices of trades');
const BEGIN_MS = Date.UTC(2026, 5, 1);

let server: RunningRedis;
const workers: Store[] = [];

beforeAll(async () => {
  server = await startTestRedis();
  for (let i = 0; i < 3; i++) workers.push(await openStore(server.url));
});
afterAll(async () => {
  for (const worker of workers) worker.stop();
  await server.stop();
});

test('one run of the chore, by one worker or by three at once, counts every match', async () => {
  const random = createRandom(SEED);
  const [store] = workers as [Store];
  const markets = Array.from({ length: 12 }, (_, i) => createMarket(store, `prices${10 + i}`));
  const chores = workers.map((worker) => createPriceChore(createCandleWriter(worker)));
  const writer = createCandleWriter(store);
  const times = markets.map(() => BEGIN_MS);
  for (const market of markets) await market.list();
  for (const round of [chores, chores.slice(0, 1), chores]) {
    for (const [i, market] of markets.entries()) {
      // One market has more matches than one step counts.
      for (let n = i === 0 ? 1_200 : random.int(0, 60); n > 0; n--) {
        times[i] = nextMs(random, times[i] ?? BEGIN_MS);
        await market.match(random, times[i] ?? BEGIN_MS);
      }
    }
    await Promise.all(round.map((chore) => chore.run()));
    expect(await writer.behind()).toEqual([]);
  }
  for (const [i, { id, trades, state }] of markets.entries()) {
    await store.redis.del(store.keys.trades(id));
    const nowMs = times[i] ?? BEGIN_MS;
    const all = await createHistory(store).candles(id, 0, 43_200_000);
    expect(all.reduce((sum, { volumeMicro }) => sum + volumeMicro, 0)).toBe(state().volumeMicro);
    expect(await createHistory(store).day(id, state(), nowMs)).toEqual(expectedDay(trades, nowMs));
  }
});
