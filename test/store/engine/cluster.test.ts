import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import {
  alice,
  bob,
  carla,
  type EngineWorld,
  NO,
  openEngineWorld,
  START_SECOND,
  told,
  YES,
} from '../../support/engine-world';
import { startTestCluster, type TestCluster } from '../../support/redis';
import { sampleOf, sizeOf } from '../../support/sample';
import { READY_MS } from '../../support/waiting';
import { runWorld } from '../fuzzing/harness';
import { operationsOf, worldOf } from '../fuzzing/operations';

/** The node that runs a script would refuse it if it used a key of another slot. */
const OPERATIONS = sizeOf('CLUSTER_OPERATIONS', 400, 600);

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster();
});
afterAll(async () => cluster.stop());

describe('on a Redis Cluster of three masters', () => {
  let w: EngineWorld;
  beforeEach(async () => {
    w = await openEngineWorld({ urls: cluster.url.split(','), makersMax: 3 });
  });
  afterEach(() => w.stop());

  test('every verb of the engine works', async () => {
    const ids = [await w.market({ id: 'market01', feeRateBps: 100 }), await w.market({ id: 'market02' })];
    const [first = '', second = ''] = ids;
    await w.engine.credit(alice, 1_000_000 as never);
    await w.split(carla, '10', first);
    await w.place(w.buy(bob, NO, '1', '0.50', { market: first, expires: START_SECOND + 1 }));
    await w.place(w.buy(bob, NO, '1', '0.50', { market: second, expires: START_SECOND + 1 }));
    await w.place(w.buy(bob, NO, '1', '0.50', { market: first }));
    await w.place(w.sell(carla, YES, '1', '0.51', { market: first }));
    await w.clock((START_SECOND + 1) * 1000);
    const taker = w.buy(alice, YES, '3', '0.55', { market: first, prevention: 'CANCEL_BOTH' });
    expect(told(await w.place(taker)).fills).toEqual(['1 @ 0.5 MINT', '1 @ 0.51 COMPLEMENTARY']);
    expect((await w.place(taker)).replayed).toBe(true);
    expect(await w.engine.expire()).toEqual({ expired: 1, waiting: false });
    expect((await w.engine.cancel(null, alice, taker.orderHash, 'USER')).cancelled).toBe(true);
    const more = w.buy(alice, YES, '3', '0.40', { market: second });
    await w.place(more);
    const { results } = await w.engine.cancelMany(second, alice, [more.orderHash], 'CANCEL_ALL');
    expect(results[0]?.cancelled).toBe(true);
    await w.place(w.buy(alice, YES, '3', '0.40', { market: second }));
    await w.engine.moveMarket(second, 'CLOSED', ['OPEN']);
    expect(await w.engine.clearBook(second)).toMatchObject({ cancelled: 1 });
    expect(await w.book(second)).toMatchObject({ bids: [], asks: [], liquidity: '0' });
  });

  test('its keys are in one slot', async () => {
    await w.market();
    await w.place(w.buy(alice, YES, '1', '0.50'));
    const owners = await Promise.all(w.masters.map((master) => master.dbsize()));
    expect(owners.filter((size) => size > 0)).toHaveLength(1);
  });
});

test.each(sampleOf('worlds on a cluster', [2, 5], 1))(
  'a short fuzz finds no difference, seed %d',
  async (seed) => {
    const redis = connect({ urls: cluster.url.split(',') });
    await ready(redis, READY_MS);
    try {
      const tally = await runWorld(worldOf(seed), operationsOf(worldOf(seed), OPERATIONS), { redis });
      expect(tally.get('BOOKED')).toBeGreaterThan(50);
    } finally {
      disconnect(redis);
    }
  },
);
