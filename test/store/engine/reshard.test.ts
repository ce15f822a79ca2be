import { micro } from '../../../src/exchange/units';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { createScripts, type RedisClient } from '../../../src/store/redis/scripts';
import { createEngine } from '../../../src/store/verbs/engine';
import { startTestCluster, type TestCluster } from '../../support/redis';
import { sizeOf, storyOf } from '../../support/sample';
import { startShuttle, withoutDoor } from '../../support/slots';
import { tell } from '../../support/telling';
import { READY_MS } from '../../support/waiting';
import { told } from '../audit/auditing';
import { contradictions, openExchange, trade } from './resharding';

/**
 * The slot of the book moves between two nodes of a real cluster during trading. For more of them by hand:
 * `RESHARD_ORDERS=20000 npx jest test/store/engine/reshard`.
 */
const ORDERS = sizeOf('RESHARD_ORDERS', 300, 1_500);
const REST_MS = 120;
const MOVES_MIN = 3;
const REPLICAS = 2;
const STORY_MS = 120_000 + 30 * ORDERS;
/** Without the check of the slot, a round of this size tears something, usually the first one. */
const ROUND = 500;
const ROUNDS_MAX = 30;

const story = storyOf('stories of a slot that moves', 2);

let cluster: TestCluster;
let clients: RedisClient[];
beforeEach(async () => {
  cluster = await startTestCluster();
  clients = Array.from({ length: REPLICAS }, () => connect({ urls: cluster.url.split(',') }));
  for (const client of clients) await ready(client, READY_MS);
});
afterEach(async () => {
  for (const client of clients) disconnect(client);
  await cluster.stop();
});

const engineOn = (client: RedisClient) =>
  createEngine({ run: createScripts(client), grantMicro: micro(1_000_000_000_000), makersMax: 500 });

story(
  `the slot of the book moves back and forth under ${ORDERS} orders, no write is torn and no answer is false`,
  async () => {
    const [first, ...others] = clients as [RedisClient, ...RedisClient[]];
    const exchange = await openExchange(first);
    const shuttle = await startShuttle(cluster, exchange.keys.prefix, REST_MS);
    const startedAt = Date.now();
    const load = await trade(
      exchange,
      others.map(engineOn),
      ORDERS,
      1,
      // On a slow machine a move takes long.
      () => shuttle.moves() < MOVES_MIN,
    );
    const seconds = (Date.now() - startedAt) / 1_000;
    await shuttle.stop();
    const report = await exchange.audit();
    tell(
      `${load.orders} orders, ${load.accepted.length} accepted, ${load.cancels} cancels, ${load.repeated} answers only after a 503, ` +
        `${report.checked.fills} fills, ${shuttle.moves()} moves of the slot in ${seconds.toFixed(1)} s: ` +
        `${report.differences.length} audit differences, ${load.wrong.length} wrong answers`,
    );
    expect(load.wrong.slice(0, 10)).toEqual([]);
    expect(told(report)).toEqual([]);
    expect((await contradictions(exchange, load.accepted)).slice(0, 10)).toEqual([]);
    expect(shuttle.moves()).toBeGreaterThanOrEqual(MOVES_MIN);
    expect(report.checked.fills).toBeGreaterThan(ORDERS / 4);
  },
  STORY_MS,
);

story('without the door scripts are torn, and the audit reports it', async () => {
  const exchange = await openExchange(withoutDoor(clients[0] as RedisClient));
  const engines = clients.slice(1).map((client) => engineOn(withoutDoor(client)));
  let found: string[] = [];
  const wrong: string[] = [];
  for (let round = 1; round <= ROUNDS_MAX && found.length === 0; round++) {
    const shuttle = await startShuttle(cluster, exchange.keys.prefix, REST_MS);
    wrong.push(...(await trade(exchange, engines, ROUND, round)).wrong);
    await shuttle.stop();
    found = told(await exchange.audit());
  }
  expect(found).not.toEqual([]);
  expect(wrong.join('\n')).toMatch(/non local key/);
});
