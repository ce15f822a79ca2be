import { connect } from 'node:net';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** Requests that HTTP allows, tolerates or forbids. Each is answered in the one format, and none with a 5xx. */
let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas();
});
afterAll(() => exchange.stop());
/** The patience of a test on a busy machine. */
jest.setTimeout(100_000);

/** The first whole answer behind any 100, as status and code. */
function ask(request: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(exchange.replicas[0].port, '127.0.0.1', () => socket.write(request));
    const end = (): void => {
      socket.destroy();
      const final = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
      const code = /"code":"(\w+)"/.exec(final)?.[1] ?? '';
      const isPlain = !/node_modules|\n\s+at |<html/i.test(final);
      resolve(isPlain ? `${final.split(' ')[1]} ${code}`.trim() : text);
    };
    socket.on('error', () => undefined);
    socket.on('close', end);
    socket.on('data', (data) => {
      text += data.toString('latin1');
      const final = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
      const [head = '', body] = final.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body !== undefined && body.length >= length) end();
    });
  });
}

const get = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const post = (headers: string, body: string, version = '1.1'): string =>
  `POST /auth/refresh HTTP/${version}\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;
const chunked = (body: string, coding = 'Transfer-Encoding: chunked\r\n'): string => post(coding, body);
const json = (body: string): string => post(`Content-Length: ${Buffer.byteLength(body)}\r\n`, body);
const WHOLE = '2\r\n{}\r\n0\r\n\r\n';
const LENGTH = 'Content-Length: 2\r\n';

const INVALID = '400 INVALID_REQUEST';
const OK = '200';
/** The body `{}` lacks its member, so a request whose body is read is refused as well. */
const ROWS: readonly [string, string | Buffer, string][] = [
  ['HTTP/1.0', 'GET /time HTTP/1.0\r\n\r\n', OK],
  ['HTTP/1.0 in chunks', chunked(WHOLE).replace('HTTP/1.1', 'HTTP/1.0'), INVALID],
  ['HTTP/1.2', get('/time').replace('1.1', '1.2'), INVALID],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', INVALID],
  ['Expect without a body', get('/time', 'Expect: 100-continue\r\n'), OK],
  ['Expect with a body', post(`Expect: 100-continue\r\n${LENGTH}`, '{}'), INVALID],
  ['chunks and a length', chunked(WHOLE, `Transfer-Encoding: chunked\r\n${LENGTH}`), INVALID],
  ['a length and chunks', chunked(WHOLE, `${LENGTH}Transfer-Encoding: chunked\r\n`), INVALID],
  ['chunked twice', chunked(WHOLE, 'Transfer-Encoding: chunked\r\n'.repeat(2)), INVALID],
  ['chunked and not last', chunked(WHOLE, 'Transfer-Encoding: chunked, gzip\r\n'), INVALID],
  ['xchunked', chunked(WHOLE, 'Transfer-Encoding: xchunked\r\n'), INVALID],
  ['a space before the colon', chunked(WHOLE, 'Transfer-Encoding : chunked\r\n'), INVALID],
  ['a folded header', get('/time', 'X-A: b\r\n c\r\n'), INVALID],
  ['folded chunks', chunked(WHOLE, 'Transfer-Encoding:\r\n chunked\r\n'), INVALID],
  ['a chunk size that is none', chunked('zz\r\n{}\r\n0\r\n\r\n'), INVALID],
  ['a negative chunk size', chunked('-2\r\n{}\r\n0\r\n\r\n'), INVALID],
  ['a chunk size in 0x', chunked('0x2\r\n{}\r\n0\r\n\r\n'), INVALID],
  ['a chunk size of 68 bits', chunked('fffffffffffffffff\r\n{}'), INVALID],
  ['chunks that end with LF', chunked('2\n{}\n0\n\n'), INVALID],
  ['an extension of a chunk', chunked('2;a="b"\r\n{}\r\n0\r\n\r\n'), INVALID],
  ['a length in the trailer', chunked('2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n'), INVALID],
  ['a prototype in the trailer', chunked('2\r\n{}\r\n0\r\n__proto__: 5\r\n\r\n'), INVALID],
  ...['-1', '+2', '0x2', '', '2 2', '2, 2', '9'.repeat(20)].map((length): [string, string, string] => [
    `the length "${length}"`,
    post(`Content-Length: ${length}\r\n`, '{}'),
    INVALID,
  ]),
  ['the same length twice', post(LENGTH.repeat(2), '{}'), INVALID],
  ['a length of 2^53', post('Content-Length: 9007199254740993\r\n', '{}'), '413 PAYLOAD_TOO_LARGE'],
  ['LF alone', 'GET /time HTTP/1.1\nHost: x\n\n', INVALID],
  ['a null in a header', get('/time', 'X-A: b\0c\r\n'), INVALID],
  ['bytes that are no UTF-8', Buffer.from(get('/markets/\xff\xfe'), 'latin1'), INVALID],
  ['a prototype as a header', get('/time', '__proto__: a\r\nconstructor: b\r\n'), OK],
  ['a prototype in the query', get('/markets?__proto__=1'), INVALID],
  ['a constructor in the query', get('/markets?constructor=1'), INVALID],
  ['15 kB of cookies', get('/time', `Cookie: ${'a=b; '.repeat(3_000)}\r\n`), OK],
  ['17 kB of cookies', get('/time', `Cookie: ${'x'.repeat(17_000)}\r\n`), '431 INVALID_REQUEST'],
  ['2,500 headers', get('/time', 'a:b\r\n'.repeat(2_500)), OK],
  ['1,900 addresses', get('/time', `X-Forwarded-For: ${'1.1.1.1,'.repeat(1_900)}\r\n`), OK],
  ['a whole URL', get('http://other/admin/log'), '401 UNAUTHORIZED'],
  ['an authority', get('other:80'), INVALID],
  ['two slashes', get('//other/time'), '404 NOT_FOUND'],
  ['a way up', get('/docs/../admin/log'), '404 NOT_FOUND'],
  ['an encoded way up', get('/docs/%2e%2e/package.json'), '404 NOT_FOUND'],
  ['an encoded letter', get('/%61dmin/log'), '404 NOT_FOUND'],
  ['15,000 slashes', get('/'.repeat(15_000)), '404 NOT_FOUND'],
  ['15 kB of escapes', get(`/markets/${'%41'.repeat(5_000)}`), '404 MARKET_NOT_FOUND'],
  ['an escape that is none', get('/docs/%zz'), INVALID],
  ['a method that is none', get('/time').replace('GET', 'FOO'), INVALID],
  ['TRACE', get('/time').replace('GET', 'TRACE'), '405 METHOD_NOT_ALLOWED'],
  ['another protocol with a body', post(`Upgrade: h2c\r\nConnection: Upgrade\r\n${LENGTH}`, '{}'), INVALID],
  ['1e999', json('{"refreshToken":1e999}'), INVALID],
  ['-0', json('{"refreshToken":-0}'), INVALID],
  ['1e308', json('{"refreshToken":1e308}'), INVALID],
  ['15,000 digits', json(`{"refreshToken":${'9'.repeat(15_000)}}`), INVALID],
  ['a name of 15 kB', json(`{"${'k'.repeat(15_000)}":1}`), INVALID],
  ['2,500 objects in objects', json(`${'{"a":'.repeat(2_500)}1${'}'.repeat(2_500)}`), INVALID],
  ['half a surrogate', json('{"refreshToken":"\\ud800"}'), '401 TOKEN_INVALID'],
];

test.each(ROWS)('%s is answered and does no harm', async (_what, request, expected) => {
  expect(await ask(request)).toBe(expected);
});

test('after all of them the exchange serves, and has logged no bug', async () => {
  expect((await exchange.client.get('/readyz')).status).toBe(200);
  expect(exchange.logged.join('\n')).not.toMatch(/INTERNAL|"level":"error"/);
});
