import { listen } from '../support/listener';
import { createTrader, type Domain, domainOf, type OpenMarket, type Trader } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

const GRACE_MS = 10_000;
let exchange: WebReplicas;
let replicas: [Replica, Replica];
let market: OpenMarket;
let domain: Domain;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true });
  replicas = [await exchange.replica(), await exchange.replica()];
  domain = await domainOf(replicas[0].client);
  market = await exchange.market(replicas[0]);
});
afterAll(() => exchange.stop());

const trader = (): Trader => createTrader(replicas[0].client, domain);

async function order(
  owner: Trader,
  pips = 3_000,
): Promise<() => Promise<{ status: string; reason: string | null; updatedAt: string }>> {
  const { body } = await owner.submit(market, { side: 'BUY', outcome: 0, pips, lots: 100 });
  expect(body.status).toBe('OPEN');
  return async () => (await replicas[0].client.get(`/orders/${body.orderHash}`)).body;
}

const guarded = async (owner: Trader, url: string) =>
  listen(url, { token: await owner.token(), cancelOnDisconnect: true });

test('orders are cancelled 10 s after the last such socket was closed, for its wallet only', async () => {
  const [gone, stays, plain, back, killed] = [trader(), trader(), trader(), trader(), trader()];
  const child = await exchange.replicaProcess();
  const sockets = {
    gone: [await guarded(gone, replicas[0].url), await guarded(gone, replicas[1].url)],
    stays: [await guarded(stays, replicas[0].url), await guarded(stays, replicas[1].url)],
    plain: await listen(replicas[0].url, { token: await plain.token() }),
    back: await guarded(back, replicas[1].url),
  };
  await guarded(killed, child.url);
  const orders = {
    gone: [await order(gone), await order(gone, 3_100)],
    stays: await order(stays),
    plain: await order(plain),
    back: await order(back),
    killed: await order(killed),
  };
  sockets.gone[0]?.close();
  await sleep(1_000);

  const leftAtMs = Date.now();
  sockets.gone[1]?.close();
  sockets.stays[0]?.close();
  sockets.plain.close();
  sockets.back.close();
  // A replica that is killed loses its sockets, and cannot report that.
  await child.kill();
  // Enough is left for a busy machine to connect within the grace.
  await sleep(GRACE_MS / 2);
  const again = await guarded(back, replicas[0].url);
  const all = [...orders.gone, orders.stays, orders.plain, orders.back, orders.killed];
  expect((await Promise.all(all.map((one) => one()))).map(({ status }) => status)).toEqual(
    all.map(() => 'OPEN'),
  );

  const cancelled = [...orders.gone, orders.killed];
  const isOver = async (): Promise<boolean> =>
    (await Promise.all(cancelled.map((one) => one()))).every(({ reason }) => reason === 'DISCONNECT');
  await until('the orders of the wallets that left are cancelled', isOver, { pollMs: 100 });
  for (const one of cancelled)
    expect(Date.parse((await one()).updatedAt) - leftAtMs).toBeGreaterThan(GRACE_MS - 1_000);
  await sleep(1_500);
  for (const one of [orders.stays, orders.plain, orders.back]) expect((await one()).status).toBe('OPEN');

  // No later orders are left to cancel.
  expect((await (await order(gone))()).status).toBe('OPEN');
  const { redis, keys } = exchange.store;
  const absence = () => redis.zscore(keys.absences, Buffer.from(gone.address.slice(2), 'hex'));
  await until('the wallet is off the list of the absent', async () => (await absence()) === null);
  for (const socket of [...sockets.stays, again]) socket.close();
});

test('connected wallets keep their orders after Redis was away for longer than 10 s', async () => {
  const alice = trader();
  const socket = await guarded(alice, replicas[1].url);
  const resting = await order(alice);
  await exchange.restartRedis(GRACE_MS + 1_500);
  await sleep(5_000);
  expect((await resting()).status).toBe('OPEN');
  expect(socket.ended()).toBeNull();
  socket.close();
});
