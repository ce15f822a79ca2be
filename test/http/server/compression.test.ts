import http from 'node:http';
import { gunzipSync } from 'node:zlib';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** `fetch` decodes by itself, so these requests are made without it. */
let exchange: WebReplicas;
let market: Market;
let alice: Trader;
let bob: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas();
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  const domain = await domainOf(exchange.client);
  [alice, bob] = [createTrader(exchange.client, domain), createTrader(exchange.client, domain)];
});
afterAll(() => exchange.stop());

interface Raw {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

const send = (
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: string,
): Promise<Raw> =>
  new Promise((resolve, reject) => {
    const request = http.request(exchange.replicas[0].url + path, { method, headers, agent: false });
    request.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
    });
    request.end(body);
  });

const GZIP = { 'accept-encoding': 'gzip, deflate' };

test('a read of more than a kilobyte is compressed where the client asks for it', async () => {
  for (const path of ['/openapi.json', '/asyncapi.json', '/config', `/markets/${market.id}/trading`]) {
    const [plain, packed, refused] = [
      await send(path),
      await send(path, GZIP),
      await send(path, { 'accept-encoding': 'gzip;q=0, br' }),
    ];
    expect([plain.headers['content-encoding'], refused.headers['content-encoding']]).toEqual([
      undefined,
      undefined,
    ]);
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.headers['content-length']).toBe(String(packed.body.length));
    expect(packed.body.length).toBeLessThan(plain.body.length / 2);
    expect(Object.keys(JSON.parse(gunzipSync(packed.body).toString()))).toEqual(
      Object.keys(JSON.parse(plain.body.toString())),
    );
    // The answer of one client is no answer to the other.
    for (const { headers } of [plain, packed, refused]) expect(headers.vary).toContain('Accept-Encoding');
    const head = await send(path, GZIP, 'HEAD');
    expect([head.status, head.headers['content-encoding'], head.body.length]).toEqual([200, 'gzip', 0]);
  }
});

test('a short answer and the answer to a submission are sent as they are', async () => {
  expect((await send('/time', GZIP)).headers).not.toHaveProperty('content-encoding');
  for (let i = 0; i < 10; i++) await bob.submit(market, limit('BUY', 1, 4_000, 100));
  const body = JSON.stringify({ order: await alice.order(market, limit('BUY', 0, 6_000, 1_000)) });
  const headers = { ...GZIP, 'content-type': 'application/json' };
  const filled = await send(`/markets/${market.id}/orders`, headers, 'POST', body);
  expect([filled.status, filled.body.length > 1_024]).toEqual([200, true]);
  expect(filled.headers).not.toHaveProperty('content-encoding');
});

test('the documents are the same until the program changes, and other sites may load them', async () => {
  for (const path of ['/openapi.json', '/asyncapi.json']) {
    const { headers } = await send(path);
    expect(headers.etag).toMatch(/^"[\w-]{16}"$/);
    expect(headers['cache-control']).toBe('public, max-age=300');
    expect(headers['cross-origin-resource-policy']).toBe('cross-origin');
    const again = await send(path, { 'if-none-match': headers.etag ?? '' });
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
  }
});
