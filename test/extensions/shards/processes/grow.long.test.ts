import { Wallet } from 'ethers';
import { checkChannels } from '../../../../src/extensions/shards/store/check-channels';
import { createKeys } from '../../../../src/store/redis/keys';
import { createShell } from '../../../cli/shell';
import { startNode, startScript } from '../../../support/processes';
import { ADMIN_TOKEN, ENVIRONMENT } from '../../../support/settings';
import { createTrader, domainOf, type OpenMarket, openMarket } from '../../../support/trader';
import { until } from '../../../support/waiting';
import {
  type ReplicaProcess,
  startReplica,
  startWebReplicas,
  type WebReplicas,
} from '../../../support/web-replicas';

/** The real program gets more shards: what still runs, what starts too early, and what goes on. */
const key = `0x${'7'.repeat(64)}`;
const FILLS = 5;
const first = createKeys();
let exchange: WebReplicas;
let web: ReplicaProcess;
beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, env: { PAPER_GRANT: '100' } });
  web = await exchange.replicaProcess();
});
afterAll(() => exchange.stop());

const shell = (shards: number) =>
  createShell(exchange.redis.url, { SHARDS: String(shards), PAPER_GRANT: '100' });
const growing = () => exchange.store.redis.hget(first.shardCount, 'grow');
const buy = (shares: number) => ({ side: 'BUY', outcome: 0, pips: 5_000, lots: shares * 100 }) as const;
const environment = (shards: number): Record<string, string> => ({
  ...ENVIRONMENT,
  REDIS_URL: exchange.redis.url,
  SHARDS: String(shards),
  PORT: '0',
});
const traderAt = async (client: ReplicaProcess['client']) =>
  createTrader(client, await domainOf(client), new Wallet(key));

/** What a wallet reads of its journal, whole and page by page. */
interface Lines {
  readonly activity: readonly unknown[];
  readonly trades: readonly unknown[];
  readonly cursor: string;
}
let before: Lines;
const lister = new Wallet(`0x${'8'.repeat(64)}`);

/** Fills of one wallet, at a price that leaves the other orders alone. */
async function fillOften(market: OpenMarket): Promise<void> {
  const domain = await domainOf(web.client);
  const [maker, taker] = [createTrader(web.client, domain, lister), createTrader(web.client, domain)];
  for (let i = 0; i < FILLS; i++) {
    await maker.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 100 });
    const { body } = await taker.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 100 });
    expect(body.status).toBe('FILLED');
  }
}

async function linesOf(client: ReplicaProcess['client']): Promise<Lines> {
  const trader = createTrader(client, await domainOf(client), lister);
  await trader.signIn();
  const [activity, trades, page] = await Promise.all(
    ['/me/activity', '/me/trades', '/me/trades?limit=2'].map(async (path) => (await trader.get(path)).body),
  );
  return { activity: activity.data, trades: trades.data, cursor: page.nextCursor };
}

async function expectUnfit(shards: number, reason: string): Promise<void> {
  for (const program of ['web', 'worker']) {
    const { exited, stderr } = startScript(`require('./src/${program}.ts')`, environment(shards));
    expect(await exited).toBe(78);
    expect(stderr()).toContain(reason);
  }
}

test('while a process is at work it is refused, and the exchange was never halted', async () => {
  const market = await openMarket(web.client, ADMIN_TOKEN, { question: 'Of before?' });
  const trader = await traderAt(web.client);
  expect((await trader.submit(market, buy(100))).body).toMatchObject({ status: 'OPEN' });
  await fillOften(market);
  before = await linesOf(web.client);
  const refused = await shell(1).exchange('shards', 'grow', '--to', '2', '--halt', '--yes');
  expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('processes are at work') });
  // The key is written with the first change of the mode.
  expect(await exchange.store.redis.exists(first.mode)).toBe(0);
  expect((await shell(1).exchange('mode')).out).toBe('NORMAL\n');
  expect((await shell(1).exchange('shards', 'grow', '--to', '2', '--yes')).err).toContain(
    'need the mode HALTED',
  );
  expect((await shell(1).exchange('shards', 'grow', '--to', '2', '--halt')).code).toBe(2);
  expect((await shell(1).exchange('shards', 'grow', '--to', '3', '--yes')).code).toBe(2);
  expect(await exchange.store.redis.hgetall(first.shardCount)).toEqual({});
});

test('a command that is killed is ended by the same command, and no process starts before', async () => {
  web.started.child.kill('SIGSTOP');
  const args = ['-r', './test/support/typescript.js', 'src/cli.ts'];
  const words = ['shards', 'grow', '--to', '4', '--halt', '--yes'];
  const killed = startNode([...args, ...words], environment(1));
  await until('it has begun', async () => (await growing()) === '4', { explain: killed.stderr });
  killed.child.kill('SIGKILL');
  await killed.exited;
  const told = 'this exchange is getting 4 shards; end that with: exchange shards grow --to 4';
  await Promise.all([expectUnfit(1, told), expectUnfit(4, told)]);
  expect((await shell(1).exchange('mode', 'NORMAL')).err).toContain(told);
  expect((await shell(4).exchange('shards', 'list')).out).toContain('it is getting 4 shards');

  const ended = await shell(1).exchange(...words);
  expect(ended).toMatchObject({ code: 0, err: '' });
  expect(ended.out).toMatch(
    /^the exchange has 4 shards: [0-3] wallets have a new home; .*SHARDS=4\nthe mode is NORMAL\n$/,
  );
  // The growth ends all connections but its own, so the one of this test has to open again.
  const { redis } = exchange.store;
  await until('the test is connected again', () =>
    redis.ping().then(
      () => true,
      () => false,
    ),
  );
  expect(await redis.hgetall(first.shardCount)).toEqual({ count: '4' });
  expect((await shell(4).exchange(...words)).out).toBe('the exchange has 4 shards\n');
});

test('a process that stood still meanwhile ends with 78 as soon as it goes on', async () => {
  web.started.child.kill('SIGCONT');
  expect(await web.started.exited).toBe(78);
  expect(web.started.stderr()).toContain('must be 4, the number of shards of this exchange: set SHARDS=4');
  await expectUnfit(1, 'set SHARDS=4');
});

test('with the new number the exchange trades on, in old markets and in new ones', async () => {
  const four = await startReplica({ REDIS_URL: exchange.redis.url, SHARDS: '4', PAPER_GRANT: '100' });
  try {
    const trader = await traderAt(four.client);
    await trader.signIn();
    // Its first grant, and the fills.
    expect(before.activity).toHaveLength(1 + FILLS);
    const { activity, trades } = await linesOf(four.client);
    expect([activity, trades]).toEqual([before.activity, before.trades]);
    const reader = createTrader(four.client, await domainOf(four.client), lister);
    await reader.signIn();
    for (const [order, left] of [
      ['desc', before.trades.slice(2)],
      ['asc', before.trades.slice(0, 1).reverse()],
    ] as const) {
      const rest = await reader.get(`/me/trades?order=${order}&cursor=${before.cursor}`);
      expect(rest.body.data).toEqual(left);
    }
    const [old] = (await four.client.get('/markets')).body.data;
    expect(old).toMatchObject({ question: 'Of before?' });
    expect((await trader.get('/me/balances')).body.collateral).toMatchObject({
      available: '50',
      reserved: '50',
    });
    for (let shard = 0; shard < 4; shard++) {
      const market = await openMarket(four.client, ADMIN_TOKEN, { question: `Of shard ${shard}?`, shard });
      expect((await trader.submit(market, buy(25))).body).toMatchObject({ status: 'OPEN' });
    }
    expect((await trader.submit(old, buy(1))).body).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      available: '0',
    });
    expect((await trader.post('/me/orders/cancel-all')).status).toBe(200);
    expect((await trader.get('/me/balances')).body.collateral).toMatchObject({
      available: '100',
      reserved: '0',
    });
    expect((await four.client.get('/admin/log', { token: ADMIN_TOKEN })).body.data).toContainEqual(
      expect.objectContaining({ action: 'shards grow', status: 200 }),
    );
  } finally {
    await four.stop();
  }
  expect((await shell(4).json('audit')).differences).toEqual([]);
  const shards = Array.from({ length: 4 }, (_, k) => createKeys(k));
  expect((await checkChannels({ redis: exchange.store.redis, shards })).differences).toEqual([]);
});
