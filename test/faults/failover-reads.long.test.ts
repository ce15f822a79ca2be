import type { Client } from '../support/client';
import { startDurableRedis } from '../support/durable-redis';
import { startProxy } from '../support/proxy';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, openMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';
import { startReplica } from '../support/web-replicas';
import { expectRest, follow } from './followers';

/** A failover loses an order, and another order gets its number, with the same liquidity in the market's state. */
interface Stage {
  /** Connections to the former replica, and to a replica that was started after it. */
  readonly client: Client;
  readonly market: Awaited<ReturnType<typeof openMarket>>;
  readonly alice: Trader;
  failOver(): Promise<void>;
}

/** No process listens there. */
const CLOSED_PORT = 1;
const BID = { side: 'BUY', outcome: 0, pips: 1_000, lots: 100 } as const;

async function onFailover(story: (stage: Stage) => Promise<void>): Promise<void> {
  const master = await startDurableRedis({ appendonly: 'always' });
  const replica = await startDurableRedis({ appendonly: 'always' });
  const proxy = await startProxy(master.port);
  const { web, client } = await startReplica({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
  try {
    const market = await openMarket(client, ADMIN_TOKEN);
    for (let i = 0; i < 3; i++) await openMarket(client, ADMIN_TOKEN);
    const alice = createTrader(client, await domainOf(client));
    await alice.submit(market, BID);
    await replica.ask(`REPLICAOF 127.0.0.1 ${master.port}`);
    await until('the replica is there', async () =>
      (await master.ask('INFO replication')).includes('connected_slaves:1'),
    );
    await master.copied();
    await replica.ask('REPLICAOF NO ONE');
    const failOver = async (): Promise<void> => {
      await master.kill();
      proxy.retarget(replica.port);
      proxy.cut();
      await until('reads again', async () => (await client.get(`/markets/${market.id}`)).status === 200);
    };
    await story({ client, market, alice, failOver });
  } finally {
    await web.stop(1_000);
    await proxy.stop();
    await Promise.all([master.stop(), replica.stop()]);
  }
}

const LOST = { side: 'BUY', outcome: 0, pips: 5_000, lots: 1_000 } as const;
const OTHER = { side: 'BUY', outcome: 1, pips: 5_000, lots: 1_000 } as const;

test('a book that a failover has lost is never shown again, under any tag, although its number is used again', () =>
  onFailover(async ({ client, market, alice, failOver }) => {
    const book = (headers = {}) => client.get(`/markets/${market.id}/orderbook`, { headers });
    const { sequence } = (await alice.submit(market, LOST)).body;
    const before = await book();
    const etag = before.headers.get('etag') ?? '';
    expect(etag).toBe(`"${sequence}"`);
    expect((await book({ 'if-none-match': etag })).status).toBe(304);
    const list = async () =>
      (await client.get('/markets')).body.data.find(({ id }: { id: string }) => id === market.id);
    expect(await list()).toMatchObject({ bestBid: '0.5', bestAsk: null });
    await failOver();
    const other = await answered(async () => {
      const answer = await alice.submit(market, OTHER);
      return answer.status === 200 ? answer : null;
    });
    expect(other.body.sequence).toBe(sequence);
    const after = await book({ 'if-none-match': etag });
    expect(after.status).toBe(200);
    expect(after.body).toMatchObject({ sequence, asks: [{ price: '0.5', size: '10' }] });
    expect(after.body.bids).toEqual([{ price: '0.1', size: '1', orders: 1 }]);
    for (const what of ['ticker', 'trading']) {
      const { body } = await client.get(`/markets/${market.id}/${what}`);
      expect(JSON.stringify(body)).toMatch(/"bestAsk":"0.5"/);
    }
    expect(await list()).toMatchObject({ bestBid: '0.1', bestAsk: '0.5' });
    await until('the epoch is known', async () => (await client.get('/readyz')).status === 200);
    const now = await book({ 'if-none-match': etag });
    expect([now.status, now.headers.get('etag')]).toEqual([
      200,
      `"${sequence}-${now.headers.get('x-epoch')}"`,
    ]);
    expect((await book({ 'if-none-match': now.headers.get('etag') ?? '' })).status).toBe(304);
  }));

test('a walk over the markets that began before a failover must begin again', () =>
  onFailover(async ({ client, failOver }) => {
    const walk = (cursor: string) => client.get(`/markets?limit=1&cursor=${encodeURIComponent(cursor)}`);
    const first = (await client.get('/markets?limit=1')).body;
    const second = await walk(first.nextCursor);
    expect(second.status).toBe(200);
    await failOver();
    await until('the epoch is known', async () => (await client.get('/readyz')).status === 200);
    const { status, body } = await walk(second.body.nextCursor);
    expect([status, body.code]).toEqual([400, 'INVALID_CURSOR']);
    expect((await walk((await client.get('/markets?limit=1')).body.nextCursor)).status).toBe(200);
  }));

test('a client that was away meanwhile gets the present book, although it does not change and has the same number', () =>
  onFailover(async ({ client, market, alice, failOver }) => {
    const { sequence } = (await alice.submit(market, LOST)).body;
    const road = await startProxy(Number(new URL(client.url).port));
    const [away, there] = [
      follow(`http://127.0.0.1:${road.port}`, market.conditionId),
      follow(client.url, market.conditionId),
    ];
    try {
      await Promise.all([away, there].map((one) => expectRest(client, market.id, one)));
      road.retarget(CLOSED_PORT);
      road.cut();
      await until('it is away', () => away.book.state === 'reconnecting');
      await failOver();
      const other = await answered(async () => {
        const answer = await alice.submit(market, OTHER);
        return answer.status === 200 ? answer : null;
      });
      expect(other.body.sequence).toBe(sequence);
      await until('everybody is told', () => there.book.book?.asks.length === 1);
      await expectRest(client, market.id, there);
      road.retarget(Number(new URL(client.url).port));
      await until('it is back', () => away.book.state === 'live');
      await expectRest(client, market.id, away);
    } finally {
      for (const one of [away, there]) one.stop();
      await road.stop();
    }
  }));

/** The first answer of many requests, one after the other. */
async function answered<T>(ask: () => Promise<T | null>): Promise<T> {
  let found: T | null = null;
  const isThere = async (): Promise<boolean> => {
    found = await ask();
    return found !== null;
  };
  await until('there is an answer', isThere, { pollMs: 0 });
  return found as T;
}
