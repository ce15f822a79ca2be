import { connect } from 'node:net';
import type { Answer } from '../../support/client';
import { sendRaw } from '../../support/raw-http';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let market: Market;
let port: number;
/** A submission that is accepted. */
let body: string;

const PAD_TO = 16_384;

beforeAll(async () => {
  exchange = await startWebReplicas({ env: { CORS_ORIGINS: 'https://app.example' } });
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  port = exchange.replicas[0].port;
  const alice = createTrader(exchange.client, await domainOf(exchange.client));
  const order = await alice.order(market, { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 });
  body = JSON.stringify({ order });
});
afterAll(() => exchange.stop());

const submit = (
  raw: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> => exchange.client.post(`/markets/${market.id}/orders`, { raw, headers });
const outcome = ({ status, body: problem }: Answer): [number, string] => [status, problem?.code];

test('every answer has a request id, and a valid one of the client is kept', async () => {
  const { client } = exchange;
  const kept = await client.get('/time', { headers: { 'x-request-id': 'my_request-1' } });
  expect(kept.headers.get('x-request-id')).toBe('my_request-1');
  for (const given of ['', 'has space', 'x'.repeat(65), 'a.b']) {
    const { headers } = await client.get('/nowhere', { headers: { 'x-request-id': given } });
    expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(headers.get('x-request-id')).not.toBe(given);
  }
});

test('a problem has exactly the documented body', async () => {
  const { headers, body: problem } = await exchange.client.get('/nowhere', {
    headers: { 'x-request-id': 'r1' },
  });
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(problem).toEqual({
    type: 'urn:problem:not-found',
    title: 'The resource does not exist',
    status: 404,
    code: 'NOT_FOUND',
    detail: 'there is no resource at /nowhere; GET /openapi.json lists the paths',
    requestId: 'r1',
    retryable: false,
  });
});

test('a target that parsers read in different ways is refused before any routing', async () => {
  for (const target of [
    '/metrics\\#',
    '/admin\\mode',
    '/markets#x',
    '/time\u00e9',
    '/m\\a?b',
    '/socket.io\\',
  ]) {
    const request = `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const { status, headers, text } = await sendRaw(port, request);
    expect([target, status, headers.get('content-type')]).toEqual([target, 400, 'application/problem+json']);
    expect(text).toContain('"INVALID_REQUEST"');
  }
});

test('unknown paths, other methods, HEAD and OPTIONS are answered correctly', async () => {
  const { client } = exchange;
  const path = `/markets/${market.id}/orderbook`;
  const polling = await client.get('/socket.io/?EIO=4&transport=polling');
  expect(outcome(polling)).toEqual([400, 'INVALID_REQUEST']);
  expect(outcome(await client.get('/MARKETS'))).toEqual([404, 'NOT_FOUND']);
  const wrong = await client.call('DELETE', path);
  expect(outcome(wrong)).toEqual([405, 'METHOD_NOT_ALLOWED']);
  expect(wrong.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  expect(wrong.body.detail).toBe('DELETE is not supported here; use GET, HEAD, OPTIONS');
  expect((await client.get(`/markets/${market.id}/orders/cancel`)).headers.get('allow')).toBe(
    'POST, OPTIONS',
  );
  const options = await client.call('OPTIONS', path);
  expect([options.status, options.headers.get('allow'), options.text]).toEqual([
    204,
    'GET, HEAD, OPTIONS',
    '',
  ]);
  const head = await client.call('HEAD', path);
  expect([head.status, head.text, Number(head.headers.get('content-length'))]).toEqual([
    200,
    '',
    expect.any(Number),
  ]);
  expect(outcome(await client.call('PATCH', '/markets'))).toEqual([405, 'METHOD_NOT_ALLOWED']);
});

test('paths and queries that do not decode are refused', async () => {
  for (const path of [
    '/markets/%',
    '/markets/%E0%A4%A',
    '/orders/%ff',
    '/markets?limit=%',
    '/markets?%E0%A4=1',
  ]) {
    const answer = await sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect([path, answer.status, JSON.parse(answer.text).code]).toEqual([path, 400, 'INVALID_REQUEST']);
  }
});

test('a body is checked for type, encoding and size', async () => {
  for (const type of [
    'text/plain',
    'application/json-patch',
    'application/json; charset=latin1',
    'multipart/form-data; boundary=x',
  ]) {
    expect(outcome(await submit(body, { 'content-type': type }))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  }
  expect(outcome(await submit(body, { 'content-encoding': 'gzip' }))).toEqual([
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ]);
  for (const type of [
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
  ]) {
    expect((await submit(body, { 'content-type': type })).status).toBe(200);
  }
  expect((await submit(body.padEnd(PAD_TO))).status).toBe(200);
  expect(outcome(await submit(body.padEnd(PAD_TO + 1)))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  const batch = (length: number): Promise<Answer> =>
    exchange.client.post(`/markets/${market.id}/orders/batch`, {
      raw: `{"orders":[${body}]}`.padEnd(length),
    });
  expect((await batch(262_144)).status).toBe(200);
  expect(outcome(await batch(262_145))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
});

test('a body that is far too large is refused before it is read', async () => {
  const head = `POST /markets/${market.id}/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  const declared = await sendRaw(port, `${head}Content-Length: 1000000000\r\n\r\n{`);
  expect([declared.status, declared.closed]).toEqual([413, true]);
  expect(JSON.parse(declared.text).code).toBe('PAYLOAD_TOO_LARGE');
  const chunk = `${(100_000).toString(16)}\r\n${' '.repeat(100_000)}\r\n`;
  const chunked = await sendRaw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(50)}`);
  expect(chunked.status).toBe(413);
});

test('a body must be UTF-8 and JSON', async () => {
  const bytes = (...parts: (string | number[])[]): Uint8Array<ArrayBuffer> =>
    Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : part)));
  const broken: (string | Uint8Array<ArrayBuffer>)[] = [
    '',
    '{',
    'null x',
    '{"order":}',
    `${body}${body}`,
    `\ufeff${body}`,
    bytes('{"order":"', [0xff, 0xfe], '"}'),
    bytes('{"order":"', [0xed, 0xa0, 0x80], '"}'),
    bytes('{"order":"', [0xc0, 0x80], '"}'),
    body.replace('{"order"', '{"orderType":"IOC","orderType":"GTC","order"'),
    body.replace('"salt"', '"\\u0073alt":"1","salt"'),
    '{"a":NaN}',
    "{'order':1}",
  ];
  for (const raw of broken) expect(outcome(await submit(raw))).toEqual([400, 'INVALID_JSON']);
  const misshapen = [
    'null',
    '1',
    '"x"',
    '[]',
    '{}',
    '{"order":null}',
    '{"order":[]}',
    `${'['.repeat(8_000)}${']'.repeat(8_000)}`,
  ];
  for (const raw of misshapen) expect(outcome(await submit(raw))).toEqual([400, 'INVALID_REQUEST']);
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '\\u005f_proto__']) {
    const inside = body.replace('"salt"', `"${name}":{"x":1},"salt"`);
    const outside = body.replace('{"order"', `{"${name}":{"x":1},"order"`);
    for (const raw of [inside, outside]) expect(outcome(await submit(raw))).toEqual([400, 'INVALID_REQUEST']);
  }
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

test('errors name the path, and never repeat the sent values', async () => {
  const { body: problem } = await submit(
    body.replace(/"salt":"\d+"/, '"salt":"0x12"').replace('"side":0', '"side":2'),
  );
  expect(problem.errors).toEqual([
    { path: 'order.salt', message: expect.any(String) },
    { path: 'order.side', message: expect.any(String) },
  ]);
  expect(JSON.stringify(problem)).not.toContain('0x12');
});

test('malformed requests are refused', async () => {
  const raw = async (request: string) => {
    const answer = await sendRaw(port, request);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('x-request-id')).toBe(JSON.parse(answer.text).requestId);
    return [answer.status, JSON.parse(answer.text).code];
  };
  expect(await raw('nonsense\r\n\r\n')).toEqual([400, 'INVALID_REQUEST']);
  expect(await raw('GET /time HTTP/1.1\r\n\r\n')).toEqual([400, 'INVALID_REQUEST']);
  expect(await raw(`GET /time HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`)).toEqual([
    431,
    'INVALID_REQUEST',
  ]);
  const twice = `POST /auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`;
  expect(await raw(twice)).toEqual([400, 'INVALID_REQUEST']);
  const two =
    'GET /me/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n';
  expect(await raw(two)).toEqual([401, 'TOKEN_INVALID']);
});

test('a client that sends Expect: 100-continue receives 100', async () => {
  const head = `POST /markets/${market.id}/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  for (const expects of ['100-continue', 'the-unexpected']) {
    const answer = await sendRaw(port, `${head}Expect: ${expects}\r\nContent-Length: 2\r\n\r\n{}`);
    expect([expects, answer.status]).toEqual([expects, expects === '100-continue' ? 100 : 400]);
    expect(answer.text).toContain('INVALID_REQUEST');
  }
});

test('a body that never arrives ends with 408', async () => {
  const head = `POST /markets/${market.id}/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  const answer = await sendRaw(port, `${head}Content-Length: 100\r\n\r\n{`);
  expect([answer.status, answer.closed, JSON.parse(answer.text).code]).toEqual([
    408,
    true,
    'REQUEST_TIMEOUT',
  ]);
});

test('a client that disconnects is not logged as a failure', async () => {
  const head = `POST /markets/${market.id}/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  await sendRaw(port, `${head}Content-Length: 100\r\n\r\n{`, 50);
  expect((await exchange.client.get('/livez')).status).toBe(200);
  expect(exchange.logged.join('\n')).not.toContain('INTERNAL');
});

test('CORS follows the configuration, and helmet sets its headers', async () => {
  const origin = 'https://app.example';
  const { headers } = await exchange.client.get('/time', { headers: { origin } });
  expect(headers.get('access-control-allow-origin')).toBe(origin);
  expect(headers.get('access-control-expose-headers')).toContain('Idempotent-Replayed');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-powered-by')).toBeNull();
  const preflight = await exchange.client.call('OPTIONS', `/markets/${market.id}/orders`, {
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
  expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type');
  const other = await exchange.client.get('/time', { headers: { origin: 'https://evil.example' } });
  expect(other.headers.get('access-control-allow-origin')).toBeNull();
});

test('stopping lets requests in progress finish, and fails /readyz first', async () => {
  const second = await startWebReplicas();
  const { client, replicas } = second;
  replicas[0].web.drain();
  const ready = await client.get('/readyz');
  expect([...outcome(ready), ready.headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '1']);
  expect((await client.get('/livez')).status).toBe(200);
  const path = `/markets/${(await openMarket(client, ADMIN_TOKEN)).id}/orders`;
  const underWay = connect(replicas[0].port, '127.0.0.1');
  const answered = new Promise<string>((resolve) => {
    underWay.once('data', (chunk: Buffer) => resolve(chunk.toString()));
  });
  underWay.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`,
  );
  await client.get('/livez');
  const stopped = second.stop();
  underWay.write('}');
  expect(await answered).toMatch(/^HTTP\/1\.1 400 /);
  await stopped;
  underWay.destroy();
  await expect(client.get('/livez')).rejects.toThrow();
});
