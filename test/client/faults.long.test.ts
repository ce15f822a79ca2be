import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { createClient, ExchangeError, type Fetch, type NewOrder, type Session } from 'ctf-exchange-client';
import { build } from 'esbuild';
import { Wallet } from 'ethers';
import { ROOT } from '../support/processes';
import { startProxy } from '../support/proxy';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type TypedClients } from '../support/typed-clients';
import { sleep, until } from '../support/waiting';

/** At 10 each, more than the burst and less than what READ_MS_MAX waits for. */
const PAGES = 40;
const ORDER: NewOrder = { outcomeIndex: 0, side: 'BUY', price: '0.4', size: '10' };

let stage: TypedClients;
let market: OpenMarket;
beforeAll(async () => {
  stage = await startTypedClients();
});
afterAll(() => stage.stop());
beforeEach(async () => {
  market = await stage.market();
});

type Fault = 'reply lost' | 'request lost' | 'bad gateway' | 'half a reply';

/** The real exchange behind a network that fails submissions in this way, one after the other. */
function troubled(faults: Fault[]): Fetch {
  return async (url, init) => {
    const fault = /\/orders(\/batch)?$/.test(new URL(url).pathname) ? faults.shift() : undefined;
    if (fault === 'request lost') throw new TypeError('connection refused');
    const response = await fetch(url, init);
    if (fault === 'reply lost') throw new TypeError('connection reset');
    if (fault === 'bad gateway') return new Response('<html>502</html>', { status: 502 });
    if (fault === 'half a reply') return new Response((await response.text()).slice(0, 40), response);
    return response;
  };
}

const sequence = async (): Promise<number> =>
  (await stage.exchange.client.get(`/markets/${market.id}`)).body.sequence;

test.each<[Fault[], boolean]>([
  [['reply lost'], true],
  [['bad gateway'], true],
  [['half a reply'], true],
  [['request lost'], false],
  [['request lost', 'reply lost', 'bad gateway'], true],
])('an order is booked once through %j', async (faults, replayed) => {
  const before = await sequence();
  const { client, wallet } = await stage.trader({ fetch: troubled([...faults]) });
  const placed = await client.placeOrder(wallet, market.id, ORDER, { clientOrderId: 'one' });
  expect(placed).toMatchObject({ status: 'OPEN', replayed });
  expect((await client.orders({ clientOrderId: 'one' })).data).toMatchObject([
    { orderHash: placed.orderHash },
  ]);
  expect((await client.orders({ clientOrderId: 'two' })).data).toEqual([]);
  expect(await sequence()).toBe(before + 1);
});

test('a session that ends while the outcome of an order is unknown does not hide the outcome', async () => {
  let revoked = false;
  const { client, wallet } = await stage.trader({
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (revoked || !url.endsWith('/orders')) return response;
      revoked = true;
      const { status } = await fetch(`${stage.url()}/auth/logout`, {
        method: 'POST',
        headers: init?.headers ?? {},
      });
      expect(status).toBe(204);
      throw new TypeError('connection reset');
    },
  });
  expect(await client.placeOrder(wallet, market.id, ORDER)).toMatchObject({ status: 'OPEN', replayed: true });
  expect(client.session).toBeNull();
});

test('a batch with lost replies is booked once', async () => {
  const { client, wallet } = await stage.trader({ fetch: troubled(['reply lost', 'half a reply']) });
  const results = await client.batch(wallet, market.id, [
    ORDER,
    { ...ORDER, price: '0.405' },
    { ...ORDER, price: '0.3', orderType: 'POST_ONLY', clientOrderId: 'third' },
  ]);
  expect(results).toMatchObject([
    { status: 200, order: { status: 'OPEN' } },
    { status: 400, code: 'INVALID_TICK', nearest: ['0.4', '0.41'] },
    { status: 200, order: { status: 'OPEN' } },
  ]);
  expect((await client.orders()).data).toHaveLength(2);
});

const FOK: NewOrder = { ...ORDER, orderType: 'FOK' };

test('a refusal is not final while an earlier attempt may still be booked', async () => {
  const maker = await stage.trader();
  const meets: NewOrder = { outcomeIndex: 1, side: 'BUY', price: '0.6', size: '10' };
  const statuses: number[] = [];
  let late: (() => Promise<Response>) | null = null;
  const { client, wallet } = await stage.trader({
    fetch: async (url, init) => {
      if (!url.endsWith('/orders')) return fetch(url, init);
      if (!late) {
        late = () => fetch(url, init);
        throw new TypeError('connection reset');
      }
      const response = await fetch(url, init);
      statuses.push(response.status);
      if (response.status !== 422) return response;
      // The first attempt arrives after the second one was refused, and now there is an order that it fills.
      await maker.client.placeOrder(maker.wallet, market.id, meets);
      statuses.push((await late()).status);
      return response;
    },
  });
  const placed = await client.placeOrder(wallet, market.id, FOK);
  expect(placed).toMatchObject({ status: 'FILLED', replayed: true });
  expect(statuses).toEqual([422, 200, 200]);
});

test('a refusal is final when no earlier attempt can be booked any more', async () => {
  const { client, wallet } = await stage.trader({ fetch: troubled(['request lost']) });
  const sentAt = performance.now();
  await expect(client.placeOrder(wallet, market.id, FOK)).rejects.toMatchObject({ code: 'FOK_NOT_FILLED' });
  expect(performance.now() - sentAt).toBeGreaterThan(5_000);
});

test('a batch is sent again while one of its refusals is not final', async () => {
  const sentAt = performance.now();
  const { client, wallet } = await stage.trader({ fetch: troubled(['request lost']) });
  const results = await client.batch(wallet, market.id, [ORDER, FOK]);
  expect(results).toMatchObject([{ status: 200 }, { status: 422, code: 'FOK_NOT_FILLED' }]);
  expect(performance.now() - sentAt).toBeGreaterThan(5_000);
});

test('an answer of a proxy does not settle an order whose reply was lost', async () => {
  let attempts = 0;
  const { client, wallet } = await stage.trader({
    fetch: async (url, init) => {
      if (!url.endsWith('/orders')) return fetch(url, init);
      attempts++;
      if (attempts === 1) await fetch(url, init);
      if (attempts === 1) throw new TypeError('connection reset');
      return attempts === 2 ? new Response('<html>403</html>', { status: 403 }) : fetch(url, init);
    },
  });
  expect(await client.placeOrder(wallet, market.id, ORDER)).toMatchObject({ status: 'OPEN', replayed: true });
  expect(attempts).toBe(3);
});

test('a session that is renewed for long before a request is lost makes no refusal final too early', async () => {
  const sentAtMs: number[] = [];
  const { client, wallet } = await stage.trader({
    fetch: async (url, init) => {
      if (!url.endsWith('/orders')) return fetch(url, init);
      sentAtMs.push(performance.now());
      if (sentAtMs.length > 1) return fetch(url, init);
      // As the renewal of a session does, it takes longer than the 5 s before the request leaves.
      await sleep(5_500);
      sentAtMs[0] = performance.now();
      throw new TypeError('connection reset');
    },
  });
  await expect(client.placeOrder(wallet, market.id, FOK)).rejects.toMatchObject({ code: 'FOK_NOT_FILLED' });
  expect((sentAtMs.at(-1) ?? 0) - (sentAtMs[0] ?? 0)).toBeGreaterThanOrEqual(5_000);
}, 30_000);

test('a batch that gives up says which outcomes are unknown', async () => {
  let attempts = 0;
  const { client, wallet } = await stage.trader({
    resolveMs: 2_000,
    fetch: async (url, init) => {
      if (!url.endsWith('/batch')) return fetch(url, init);
      attempts++;
      if (attempts === 2) return fetch(url, init);
      throw new TypeError('connection reset');
    },
  });
  const results = await client.batch(wallet, market.id, [ORDER, FOK]);
  expect(results).toMatchObject([{ status: 200 }, { code: 'OUTCOME_UNKNOWN' }]);
});

describe('without any answer', () => {
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  beforeEach(async () => {
    proxy = await startProxy(stage.port());
  });
  afterEach(() => proxy.stop());

  it('a submission ends as OUTCOME_UNKNOWN, and the same order can be sent again', async () => {
    const url = `http://127.0.0.1:${proxy.port}`;
    const trading = await (await stage.trader({ signIn: false })).client.trading(market.id);
    // A client that knows the decimals needs no request before it submits.
    const bounds = { decimals: 18, timeoutMs: 2_000, resolveMs: 2_500 };
    const { client, wallet } = await stage.trader({ baseUrl: url, signIn: false, ...bounds });
    proxy.holdReplies();
    const error = await client.placeOrder(wallet, trading, ORDER).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      status: 0,
      code: 'OUTCOME_UNKNOWN',
      retryable: true,
      message: expect.stringMatching(
        /send the same signed order again \(last: no answer, TIMEOUT, the exchange /,
      ),
    });
    const { signed } = (error as ExchangeError).cause as {
      signed: Parameters<typeof later.client.submitOrder>[1]['order'];
    };
    const later = await stage.trader({ signIn: false });
    expect(await later.client.submitOrder(market.id, { order: signed })).toMatchObject({
      status: 'OPEN',
      replayed: true,
    });
  });

  it('a refusal is returned at once, without another attempt', async () => {
    const { client, wallet } = await stage.trader();
    const error = await client
      .placeOrder(wallet, market.id, { ...ORDER, side: 'SELL' })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ExchangeError);
    expect(error).toMatchObject({
      status: 422,
      code: 'INSUFFICIENT_BALANCE',
      retryable: true,
      problem: { required: '10', available: '0', asset: 'YES' },
      requestId: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
    });
  });
});

/** A port that was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('what was never sent', () => {
  it('fails at once for reads, and is NOT_SENT for an order, where nothing listens', async () => {
    const { client: known, wallet } = await stage.trader({ signIn: false });
    const trading = await known.trading(market.id);
    let attempts = 0;
    const client = createClient({
      baseUrl: `http://127.0.0.1:${await closedPort()}`,
      decimals: 18,
      resolveMs: 1_000,
      fetch: (url, init) => {
        attempts++;
        return fetch(url, init);
      },
    });
    await expect(client.time()).rejects.toMatchObject({ code: 'NOT_SENT', status: 0, retryable: true });
    expect(attempts).toBe(1);
    await expect(client.signIn(wallet)).rejects.toMatchObject({ code: 'NOT_SENT' });
    expect(attempts).toBe(2);
    const error = await client.placeOrder(wallet, trading, ORDER).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'NOT_SENT', isOutcomeUnknown: false });
    // An exchange that restarts refuses connections for a moment.
    expect(attempts).toBeGreaterThan(3);
  });

  it('is NOT_SENT in a runtime that cannot send, after one attempt', async () => {
    let attempts = 0;
    const { client, wallet } = await stage.trader({
      signIn: false,
      fetch: (url, init) => {
        if (init?.method === 'GET') return fetch(url, init);
        attempts++;
        throw new TypeError('this runtime has no such function');
      },
    });
    const attempt = client.placeOrder(wallet, market.id, ORDER);
    await expect(attempt).rejects.toMatchObject({ code: 'NOT_SENT', retryable: false });
    expect(attempts).toBe(1);
  });

  it('is an order whose session could not be renewed, as long as no attempt was sent', async () => {
    const { client, wallet } = await stage.trader({
      resolveMs: 500,
      fetch: async (url, init) => {
        if (url.endsWith('/auth/refresh')) throw new TypeError('fetch failed');
        return fetch(url, init);
      },
    });
    client.useSession({ ...(client.session as Session), expiresAt: 0 });
    await expect(client.placeOrder(wallet, market.id, ORDER)).rejects.toMatchObject({ code: 'NOT_SENT' });
  }, 30_000);
});

test('a runtime without AbortSignal sends its requests all the same', async () => {
  const { outputFiles } = await build({
    entryPoints: [path.join(ROOT, 'packages/client/src/index.ts')],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'exchange',
    write: false,
  });
  const globals = {
    AbortController,
    fetch,
    Headers,
    performance,
    URLSearchParams,
    setTimeout,
    clearTimeout,
    baseUrl: stage.url(),
  };
  const code = `${outputFiles[0]?.text}; exchange.createClient({ baseUrl }).time()`;
  expect(await runInNewContext(code, globals)).toEqual({ timestamp: expect.any(Number) });
});

describe('a signal', () => {
  it('ends what waits for an answer, and lets nothing be sent afterwards', async () => {
    const proxy = await startProxy(stage.port());
    try {
      const { client, wallet } = await stage.trader();
      const trading = await client.trading(market.id);
      const far = createClient({
        baseUrl: `http://127.0.0.1:${proxy.port}`,
        session: client.session,
        decimals: 18,
      });
      proxy.holdReplies();
      const ending = new AbortController();
      const calls = far.withSignal(ending.signal);
      // It names no order, so that it takes nothing from the book whenever it arrives.
      const [read, cancel] = [calls.balances(), calls.cancelMany([`0x${'0'.repeat(64)}`])].map((call) =>
        call.then(
          () => null,
          (error: unknown) => error,
        ),
      );
      const order = calls.placeOrder(wallet, trading, ORDER).catch((error: unknown) => error);
      await until('booked', async () => (await client.orders({ status: 'open' })).data.length === 1);
      ending.abort();
      for (const error of [await read, await cancel])
        expect(error).toMatchObject({ code: 'ABORTED', status: 0, isOutcomeUnknown: true, retryable: false });
      expect(await order).toMatchObject({ code: 'OUTCOME_UNKNOWN', cause: { signed: expect.anything() } });
      await expect(calls.time()).rejects.toMatchObject({ code: 'NOT_SENT' });
      await expect(calls.placeOrder(wallet, trading, ORDER)).rejects.toMatchObject({ code: 'NOT_SENT' });
      // Only those calls end.
      expect((await client.orders({ status: 'open' })).data).toHaveLength(1);
    } finally {
      await proxy.stop();
    }
  });
});

test('a dry run books nothing', async () => {
  const before = await sequence();
  const { client, wallet } = await stage.trader();
  const told = await client.placeOrder(wallet, market.id, ORDER, { dryRun: true });
  expect(told).toMatchObject({ status: 'OPEN', replayed: false });
  expect(await sequence()).toBe(before);
  await expect(
    client.placeOrder(wallet, market.id, ORDER, { deadline: Date.now() - 60_000 }),
  ).rejects.toMatchObject({
    code: 'DEADLINE_EXCEEDED',
  });
});

test('reads wait out a rate limit, as Retry-After says', async () => {
  const limited = await startTypedClients({ RATE_LIMIT: 'on' });
  try {
    let refused = 0;
    const { client } = await limited.trader({
      signIn: false,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (response.status === 429) refused++;
        return response;
      },
    });
    const { id } = await limited.market();
    // The reads of this second are used up, however slow this machine is.
    await limited.exchange.redis.ask('SET rl:reads:127.0.0.1 100 EX 2');
    await Promise.all(Array.from({ length: PAGES }, () => client.trades(id, { limit: 500 })));
    expect(refused).toBeGreaterThan(0);
    // A minute is longer than a read waits, so the error is thrown at once.
    const wallet = Wallet.createRandom();
    const nonces = Array.from({ length: 11 }, () => client.signIn(wallet));
    const refusals = (await Promise.allSettled(nonces)).filter(({ status }) => status === 'rejected');
    expect(refusals).toMatchObject([{ reason: { code: 'RATE_LIMITED', status: 429, retryable: true } }]);
  } finally {
    await limited.stop();
  }
});
