import { sessionKey } from '../../../../src/store/redis/keys';
import { createShell } from '../../../cli/shell';
import { createClient } from '../../../support/client';
import { portOf, startScript } from '../../../support/processes';
import { openLink, startTestCluster, type TestCluster } from '../../../support/redis';
import { ADMIN_TOKEN, ENVIRONMENT } from '../../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../../support/trader';
import { until } from '../../../support/waiting';

/** One of three masters is silent, with shard 2 of 4: the markets of the others go on. */
const LIMIT_MS = 120_000;
/** In the first node. */
const LAST_SLOT = 5_460;
const PAGE = 3;
const UNKNOWN = `0x${'12'.repeat(32)}`;
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster(3);
}, LIMIT_MS);
afterAll(() => cluster.stop());

/** With a session that the first node does not have. */
async function signInElsewhere(trader: Trader): Promise<void> {
  const link = await openLink(cluster.nodes[0]?.port ?? 0);
  await until('its session is on another node', async () => {
    const claims = (await trader.signIn()).body.accessToken.split('.')[1];
    const { sid } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    return Number(await link.ask(`CLUSTER KEYSLOT ${sessionKey(sid)}`)) > LAST_SLOT;
  });
  link.close();
}

type Client = ReturnType<typeof createClient>;
interface Row {
  readonly id: string;
  readonly sequence: number;
  readonly shard?: number;
}

/** The number of each listed market by its id, read page by page. */
async function walk(client: Client): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let cursor = '';
  do {
    const { status, body } = await client.get(`/markets?status=OPEN&limit=${PAGE}${cursor}`);
    expect(status).toBe(200);
    for (const { id, sequence } of body.data as Row[]) {
      expect(found.has(id)).toBe(false);
      found.set(id, sequence);
    }
    cursor = body.nextCursor === null ? '' : `&cursor=${encodeURIComponent(body.nextCursor)}`;
  } while (cursor !== '');
  return found;
}

const eventOf = (shard: number) => ({ slug: `event-${shard}`, title: `Event ${shard}` });

/** The catalogue is whole: only the rows of shard 2 are as they were before the orders in all four markets. */
async function expectCatalogue(client: Client, markets: readonly Market[], before: Map<string, number>) {
  const now = await walk(client);
  expect([...now.keys()].sort()).toEqual(markets.map(({ id }) => id).sort());
  for (const [shard, { id }] of markets.entries()) {
    const rise = (now.get(id) ?? 0) - (before.get(id) ?? 0);
    expect([shard, rise]).toEqual([shard, Number(shard !== 2)]);
    const event = await client.get(`/events/event-${shard}`);
    expect([event.status, event.body.markets?.map((row: Row) => row.sequence)]).toEqual([200, [now.get(id)]]);
  }
  const { body } = await client.get('/categories');
  expect(body.data.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(4);
}

test(
  'a shard that is away is named, only its markets answer 503, and requests about several shards say what was done',
  async () => {
    const env = { ...ENVIRONMENT, REDIS_URL: cluster.url, PORT: '0', NODE_ENV: 'test', SHARDS: '4' };
    const web = startScript("require('./src/web.ts')", env as Record<string, string>);
    const client = createClient(`http://127.0.0.1:${await portOf(web)}`);
    const trader = createTrader(client, await domainOf(client));
    const markets: Market[] = [];
    for (let shard = 0; shard < 4; shard++)
      markets.push(await openMarket(client, ADMIN_TOKEN, { shard, event: eventOf(shard) }));
    const buy = { side: 'BUY', outcome: 0, pips: 5_000, lots: 100 } as const;
    const resting: string[] = [];
    for (const market of markets) {
      const { status, body } = await trader.submit(market, buy);
      expect(status).toBe(200);
      resting.push(body.orderHash);
    }
    await signInElsewhere(trader);
    const owned = await client.call('GET', '/admin/markets', { token: ADMIN_TOKEN });
    const shell = createShell(cluster.url, { SHARDS: '4' });
    const places = markets.map(({ id }, shard) => `${id} ${shard}`).sort();
    for (const rows of [owned.body.data, await shell.json('markets', 'list')])
      expect(rows.map(({ id, shard }: Row) => `${id} ${shard}`).sort()).toEqual(places);
    expect(await shell.json('markets', 'show', markets[3]?.id ?? '')).toMatchObject({ shard: 3 });
    expect((await shell.exchange('markets', 'list')).out).toMatch(/^SHARD +ID +STATUS/);
    const told = await client.get(`/markets/${markets[3]?.id}`);
    expect(told.body.shard).toBeUndefined();
    const before = await walk(client);
    // A process lists the markets when it starts; this one gets no request for them before the shard is silent.
    const fresh = startScript("require('./src/web.ts')", env as Record<string, string>);
    const unasked = createClient(`http://127.0.0.1:${await portOf(fresh)}`);
    const signal = (name: NodeJS.Signals) => process.kill(cluster.nodes[0]?.pid ?? 0, name);
    signal('SIGSTOP');
    try {
      await until('the shard is seen to be away', async () => {
        const { status, body } = await client.get('/readyz');
        return status === 200 && body.shards[2] === 'down';
      });
      const answers = await Promise.all(markets.map((market) => trader.submit(market, buy)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 503, 200]);
      for (const each of [client, unasked]) await expectCatalogue(each, markets, before);
      const listed = await trader.post('/orders/cancel', { orderHashes: [...resting, UNKNOWN] });
      expect(listed).toMatchObject({ status: 200 });
      expect(new Set(listed.body.cancelled)).toEqual(new Set(resting.filter((_, shard) => shard !== 2)));
      expect(listed.body.notCancelled).toEqual({
        [resting[2] as string]: 'UNAVAILABLE',
        [UNKNOWN]: 'UNAVAILABLE',
      });
      const nothing = await trader.post('/orders/cancel', { orderHashes: [resting[2]] });
      expect(nothing).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
      // The orders that were just accepted; those of the silent shard may be open.
      const all = await trader.post('/me/orders/cancel-all');
      expect(all).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
      const accepted = answers.flatMap(({ body }) => body.orderHash ?? []);
      expect(new Set(all.body.cancelled)).toEqual(new Set(accepted));
      expect(Object.keys(all.body.sequences)).toHaveLength(3);
      const { text } = await client.get('/metrics');
      for (const shard of [0, 1, 2, 3])
        expect(text).toContain(`exchange_shard_up{shard="${shard}"} ${Number(shard !== 2)}`);
      const mode = await client.call('PUT', '/admin/mode', { token: ADMIN_TOKEN, body: { mode: 'NORMAL' } });
      expect(mode).toMatchObject({ status: 503, body: { mode: 'NORMAL', silent: [2] } });
    } finally {
      signal('SIGCONT');
    }
    await until('the shard is back', async () => (await client.get('/readyz')).body.shards?.[2] === 'up');
    expect((await trader.submit(markets[2] as Market, buy)).status).toBe(200);
    const id = markets[2]?.id ?? '';
    for (const each of [client, unasked])
      await until('the list has the order', async () => {
        return ((await walk(each)).get(id) ?? 0) > (before.get(id) ?? 0);
      });
    for (const { child, exited } of [web, fresh]) {
      child.kill('SIGTERM');
      await exited;
    }
  },
  LIMIT_MS,
);
