import { createClient } from '../support/client';
import { portOf, startScript } from '../support/processes';
import { startTestCluster, type TestCluster } from '../support/redis';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, domainOf, type Market, openMarket } from '../support/trader';
import { until } from '../support/waiting';

/** One of three masters is silent, with shard 2 of 4: the markets of the others go on. */
const LIMIT_MS = 120_000;
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster(3);
}, LIMIT_MS);
afterAll(() => cluster.stop());

test(
  'a shard that is away is named, and only its markets answer 503',
  async () => {
    const env = { ...ENVIRONMENT, REDIS_URL: cluster.url, PORT: '0', NODE_ENV: 'test', SHARDS: '4' };
    const web = startScript("require('./src/web.ts')", env as Record<string, string>);
    const client = createClient(`http://127.0.0.1:${await portOf(web)}`);
    const trader = createTrader(client, await domainOf(client));
    const markets: Market[] = [];
    for (let shard = 0; shard < 4; shard++) markets.push(await openMarket(client, ADMIN_TOKEN, { shard }));
    const buy = { side: 'BUY', outcome: 0, pips: 5_000, lots: 100 } as const;
    for (const market of markets) expect((await trader.submit(market, buy)).status).toBe(200);
    const signal = (name: NodeJS.Signals) => process.kill(cluster.nodes[0]?.pid ?? 0, name);
    signal('SIGSTOP');
    try {
      await until('the shard is seen to be away', async () => {
        const { status, body } = await client.get('/readyz');
        return status === 200 && body.shards[2] === 'down';
      });
      const answers = await Promise.all(markets.map((market) => trader.submit(market, buy)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 503, 200]);
    } finally {
      signal('SIGCONT');
    }
    await until('the shard is back', async () => (await client.get('/readyz')).body.shards?.[2] === 'up');
    expect((await trader.submit(markets[2] as Market, buy)).status).toBe(200);
    web.child.kill('SIGTERM');
    await web.exited;
  },
  LIMIT_MS,
);
