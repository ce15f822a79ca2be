import { createHash } from 'node:crypto';
import { Cluster } from 'ioredis';
import { startWeb, type Web } from '../../src/app/web';
import { loadConfig } from '../../src/config/load';
import { createLogger } from '../../src/log';
import { addressBytes } from '../../src/store/records/order';
import { scriptSources } from '../../src/store/redis/scripts';
import { type Answer, createClient } from '../support/client';
import { startProxy, type Proxy as TcpProxy } from '../support/proxy';
import { startTestCluster, type TestCluster } from '../support/redis';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { stopAll } from '../support/stopping';
import { createTrader, domainOf, openMarket, siweText, type Trader } from '../support/trader';
import { until } from '../support/waiting';

/**
 * On a cluster, a reply that is lost with its connection leaves it unknown whether the script has run. The store must not
 * run it again by itself, or the answer would describe the second run: a faucet that "has paid already", a nonce that "was
 * used".
 */
let cluster: TestCluster;
let proxies: readonly TcpProxy[];
let own: Cluster;
let web: Web;
let client: ReturnType<typeof createClient>;
let market: Awaited<ReturnType<typeof openMarket>>;
let newTrader: () => Promise<Trader>;

beforeAll(async () => {
  cluster = await startTestCluster();
  own = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
  await own.get('{x0}:mode');
  proxies = await Promise.all(cluster.nodes.map(({ port }) => startProxy(port)));
  // The exchange finds every node behind its proxy.
  for (const [i, { port }] of cluster.nodes.entries())
    await direct(port, 'CONFIG', 'SET', 'cluster-announce-port', String(proxies[i]?.port));
  const announced = proxies.map(({ port }) => port).sort();
  await until('every node knows the proxies', async () => {
    const told = await Promise.all(cluster.nodes.map(({ port }) => direct(port, 'CLUSTER', 'SLOTS')));
    return told.every(
      (slots) =>
        String((slots as [number, number, [string, number]][]).map(([, , [, p]]) => p).sort()) ===
        String(announced),
    );
  });
  const config = loadConfig({
    ...ENVIRONMENT,
    PORT: '0',
    REDIS_URL: proxies.map(({ port }) => `redis://127.0.0.1:${port}`).join(','),
  });
  web = await startWeb(config, createLogger(config, 'web', { write: () => undefined }));
  client = createClient(`http://127.0.0.1:${web.port}`);
  market = await openMarket(client, ADMIN_TOKEN);
  const domain = await domainOf(client);
  newTrader = async () => {
    const trader = createTrader(client, domain);
    await trader.token();
    return trader;
  };
});

afterAll(async () => {
  // A test that failed may have left replies held back: web would wait for them.
  for (const proxy of proxies ?? []) proxy.heal();
  own?.disconnect();
  try {
    await web?.stop(1_000);
  } finally {
    await stopAll(...(proxies ?? []).map((proxy) => proxy.stop), () => cluster?.stop());
  }
});

/** One command to one node, past its proxy. */
async function direct(port: number, ...[name = '', ...args]: string[]): Promise<unknown> {
  const node = own.nodes('master').find(({ options }) => options.port === port);
  if (!node) throw new Error(`no node at ${port}`);
  return node.call(name, ...args);
}

/**
 * Sends a request, drops the replies of the scripts of this name, and closes the connections when the scripts have run. A request
 * that was refused before its script ran is sent again: a connection that the test before has cut may still be down.
 */
async function losing(
  scripts: RegExp,
  ask: () => Promise<Answer>,
  isDone: () => Promise<boolean>,
): Promise<Answer> {
  const sources = [...scriptSources()].flatMap(([name, source]) => (scripts.test(name) ? [source] : []));
  // A node that has not seen a script yet would only answer so, and that answer would be held back.
  for (const node of own.nodes('master')) for (const source of sources) await node.script('LOAD', source);
  const needles = sources.map((source) => Buffer.from(createHash('sha1').update(source).digest('hex')));
  for (const proxy of proxies) proxy.holdRepliesFrom(needles);
  try {
    const sent: Promise<Answer>[] = [];
    await until('the script has run', async () => {
      let isAnswered = false;
      const answer = ask().finally(() => {
        isAnswered = true;
      });
      // It is awaited below, unless the script never runs.
      answer.catch(() => undefined);
      sent[0] = answer;
      await until('the script has run, or there is an answer', async () => isAnswered || (await isDone()));
      if (await isDone()) return true;
      expect(await answer).toMatchObject(unavailable);
      return false;
    });
    return sent[0] as Promise<Answer>;
  } finally {
    for (const proxy of proxies) proxy.heal();
  }
}

const buy = (trader: Trader, pips = 4_000) =>
  trader.submit(market, { side: 'BUY', outcome: 0, pips, lots: 100 });
const unavailable = { status: 503, body: { code: 'UNAVAILABLE' } };
const raw = (trader: Trader): Buffer => addressBytes(trader.address.toLowerCase());
const usedNonces = async (): Promise<number> =>
  (await Promise.all(own.nodes('master').map((node) => node.keys('{n:*')))).flat().length;
const cash = (trader: Trader) => own.hgetBuffer('{x0}:bal', raw(trader));

test('requests after a lost connection are served again', async () => {
  const trader = await newTrader();
  for (const proxy of proxies) proxy.cut();
  await until('an order is booked', async () => (await buy(trader)).status === 200);
});

test('a faucet whose reply was lost does not report an earlier payment', async () => {
  const [first, second] = [await newTrader(), await newTrader()];
  expect((await first.post('/me/faucet')).status).toBe(200);
  const answer = await losing(
    /^credit_account$/,
    () => second.post('/me/faucet'),
    async () => (await cash(second)) !== null,
  );
  expect(answer).toMatchObject(unavailable);
  expect(answer.headers.get('retry-after')).not.toBeNull();
});

test('a cancel-all whose reply was lost does not report that there was nothing to cancel', async () => {
  const trader = await newTrader();
  const path = `/markets/${market.id}/orders/cancel-all`;
  await buy(trader);
  expect((await trader.post(path)).body.count).toBe(1);
  for (const pips of [4_100, 4_200, 4_300]) expect((await buy(trader, pips)).status).toBe(200);
  const bids = `{x0}:m:${market.id}:b`;
  const resting = await own.zcard(bids);
  const answer = await losing(
    /^cancel/,
    () => trader.post(path),
    async () => (await own.zcard(bids)) === resting - 3,
  );
  expect(answer).toMatchObject(unavailable);
});

test('a first submission whose reply was lost is not reported as a replay', async () => {
  const trader = await newTrader();
  const orders = await own.hlen('{x0}:o');
  const answer = await losing(
    /^place_order$/,
    () => buy(trader),
    async () => (await own.hlen('{x0}:o')) === orders + 1,
  );
  expect(answer.headers.get('idempotent-replayed')).toBeNull();
  expect(answer).toMatchObject(unavailable);
});

test('a good signature whose reply was lost is not refused for a used nonce', async () => {
  const trader = await newTrader();
  const { body } = await client.get(`/auth/nonce/${trader.address}`);
  const message = siweText(body);
  const signature = await trader.wallet.signMessage(message);
  const used = await usedNonces();
  const answer = await losing(
    /^burn_nonce$/,
    () => client.post('/auth/verify', { body: { message, signature } }),
    async () => (await usedNonces()) === used + 1,
  );
  expect(answer).toMatchObject(unavailable);
});
