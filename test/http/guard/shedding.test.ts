import { startWorker } from '../../../src/app/worker';
import { loadConfig } from '../../../src/config/load';
import { createShedding } from '../../../src/http/guard/shedding';
import { createLogger } from '../../../src/log';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { createKeys } from '../../../src/store/redis/keys';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { READY_MS, sleep, until } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

const BID = { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 } as const;

describe('concurrent orders', () => {
  const never = (): Promise<never> => new Promise(() => undefined);

  test('are bounded, and a finished one makes room', async () => {
    const shedding = createShedding(() => 0, { inFlightMax: 2 });
    let finish = (): void => undefined;
    const first = shedding.guard(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    void shedding.guard(never);
    expect(shedding.inFlight()).toBe(2);
    const refused = { code: 'UNAVAILABLE', extra: { retryAfterMs: 1_000 } };
    await expect(shedding.guard(never)).rejects.toMatchObject(refused);
    finish();
    await first;
    await expect(shedding.guard(async () => 'booked')).resolves.toBe('booked');
    await expect(shedding.guard(() => Promise.reject(new Error('x')))).rejects.toThrow('x');
    expect(shedding.inFlight()).toBe(1);
  });

  test('are refused by an overloaded process', async () => {
    let delayMs = 1_001;
    const shedding = createShedding(() => delayMs);
    await expect(shedding.guard(never)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    delayMs = 1_000;
    await expect(shedding.guard(async () => 'booked')).resolves.toBe('booked');
  });
});

const FILL_MAX = 5_000;

describe('a backlog', () => {
  let exchange: WebReplicas;
  let market: Market;
  let alice: Trader;
  beforeAll(async () => {
    exchange = await startWebReplicas();
    market = await openMarket(exchange.client, ADMIN_TOKEN);
    alice = createTrader(exchange.client, await domainOf(exchange.client));
  });
  afterAll(() => exchange.stop());

  /** Entries that change nothing. No worker settles here, so they stay unprocessed. */
  async function fill(entries: number): Promise<void> {
    const redis = connect({ urls: [exchange.redis.url] });
    await ready(redis, READY_MS);
    const empty = "struct.pack('>Bc8I6I6I6I2I2I2', 6, '--------', 0, 0, 0, 0, 0, 0)";
    const script = `for i = 1, ARGV[1] do redis.call('XADD', KEYS[1], '*', 'e', ${empty}) end`;
    // In parts, so that no other command waits for long.
    for (let left = entries; left > 0; left -= FILL_MAX)
      await redis.call('EVAL', script, 1, createKeys().outbox, Math.min(left, FILL_MAX));
    disconnect(redis);
  }

  const backlogged = (expected: boolean): Promise<void> =>
    until(
      expected ? 'there is a backlog' : 'the backlog is gone',
      async () => {
        const { status } = await exchange.client.post(`/markets/${market.id}/orders?dryRun=true`, {
          body: { order: await alice.order(market, BID) },
        });
        return (status === 503) === expected;
      },
      { pollMs: 100 },
    );

  test('refuses only new orders, and ends when it is worked off', async () => {
    const order = await alice.order(market, BID);
    const path = `/markets/${market.id}/orders`;
    const { body } = await exchange.client.post(path, { body: { order } });
    const rests = await alice.submit(market, BID);
    await fill(99_990);
    await sleep(1_200);
    expect((await alice.submit(market, BID)).status).toBe(200);
    await fill(20);
    await backlogged(true);
    const refused = await alice.submit(market, BID);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      503,
      'BACKLOG',
      '1',
    ]);
    const again = await exchange.client.post(path, { body: { order } });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    const cancelled = await alice.post(`${path}/cancel`, { orderHash: body.orderHash });
    expect([cancelled.status, cancelled.body.cancelled]).toEqual([200, true]);
    expect((await exchange.client.get(`/orders/${rests.body.orderHash}`)).body.status).toBe('OPEN');

    const config = loadConfig({ NODE_ENV: 'test', REDIS_URL: exchange.redis.url, LOG_LEVEL: 'silent' });
    const worker = await startWorker(config, createLogger(config, 'worker'));
    try {
      await backlogged(false);
      expect((await alice.submit(market, BID)).status).toBe(200);
    } finally {
      await worker.stop(2_000);
    }
  });
});
