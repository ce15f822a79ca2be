import { addressBytes } from '../../src/store/records/order';
import { listen } from '../support/listener';
import { createTrader, type Domain, domainOf, type OpenMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

/**
 * The long form waits the grace out, kills a replica, and takes Redis away. Here the moment at which a wallet counts as gone
 * is read in Redis, and is moved into the past instead of waited for.
 */
const GRACE_MS = 10_000;
let exchange: WebReplicas;
let replicas: Replica[];
let market: OpenMarket;
let domain: Domain;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  replicas = exchange.replicas;
  domain = await domainOf(exchange.client);
  market = await exchange.market(replicas[0] as Replica);
});
afterAll(() => exchange.stop());

const trader = (): Trader => createTrader(exchange.client, domain);
const guarded = async (owner: Trader, replica: number, cancelOnDisconnect = true) =>
  listen(replicas[replica]?.url ?? '', { token: await owner.token(), cancelOnDisconnect });

async function order(owner: Trader, pips = 3_000): Promise<() => Promise<[string, string | null]>> {
  const { body } = await owner.submit(market, { side: 'BUY', outcome: 0, pips, lots: 100 });
  expect(body.status).toBe('OPEN');
  return async () => {
    const { status, reason } = (await exchange.client.get(`/orders/${body.orderHash}`)).body;
    return [status, reason];
  };
}

test('orders are cancelled 10 s after the last such socket was closed, for its wallet only', async () => {
  const { redis, keys } = exchange.store;
  const [gone, stays, plain, back] = [trader(), trader(), trader(), trader()];
  /** The moment at which the wallet counts as gone, unless a replica still has a socket of it. */
  const goneAtMs = async (one: Trader): Promise<number> =>
    Number(await redis.zscore(keys.absences, addressBytes(one.address)));
  const sockets = {
    gone: [await guarded(gone, 0), await guarded(gone, 1)],
    stays: [await guarded(stays, 0), await guarded(stays, 1)],
    plain: await guarded(plain, 0, false),
    back: await guarded(back, 1),
  };
  const orders = {
    gone: [await order(gone), await order(gone, 3_100)],
    stays: await order(stays),
    plain: await order(plain),
    back: await order(back),
  };
  sockets.gone[0]?.close();
  const oneLeft = await goneAtMs(gone);
  await until('the other replica marks the wallet', async () => (await goneAtMs(gone)) > oneLeft + 1_000);

  const leftAtMs = Date.now();
  sockets.gone[1]?.close();
  sockets.stays[0]?.close();
  sockets.plain.close();
  sockets.back.close();
  // Marks of the same replica that come after the sockets were closed.
  const marked = leftAtMs + GRACE_MS + 2_000;
  await until('those who stay are marked', async () => (await goneAtMs(stays)) > marked);
  const [goneAt, backAt] = [await goneAtMs(gone), await goneAtMs(back)];
  expect(goneAt).toBeGreaterThanOrEqual(leftAtMs + GRACE_MS - 1_000);
  expect(goneAt).toBeLessThan(marked);
  expect(backAt).toBeLessThan(marked);
  const again = await guarded(back, 0);
  expect(await goneAtMs(back)).toBeGreaterThan(marked);
  const all = [...orders.gone, orders.stays, orders.plain, orders.back];
  for (const one of all) expect(await one()).toEqual(['OPEN', null]);

  await redis.zadd(keys.absences, Date.now() - 1, addressBytes(gone.address));
  const isOver = async (): Promise<boolean> =>
    (await Promise.all(orders.gone.map((one) => one()))).every(([, reason]) => reason === 'DISCONNECT');
  await until('the orders of the wallet that left are cancelled', isOver);
  await until('it is off the list of the absent', async () => (await goneAtMs(gone)) === 0);
  for (const one of [orders.stays, orders.plain, orders.back]) expect((await one())[0]).toBe('OPEN');
  expect(await goneAtMs(plain)).toBe(0);

  // No later orders are left to cancel.
  expect((await (await order(gone))())[0]).toBe('OPEN');
  for (const socket of [...sockets.stays, again]) socket.close();
});
