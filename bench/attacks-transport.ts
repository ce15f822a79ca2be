import { randomBytes } from 'node:crypto';
import { bytes, type Plan } from './attack-plan';
import { call, type Side } from './web-process';

/** Attacks with HTTP itself, with tokens and with packets, and reads in shapes that no client needs. */
const MARKETS = 50;
const WALK = 2_000;
const MINUTE_SEC = 60;
const HEADER_BYTES = 12_000;
const BODY_BYTES = 15_000;

export async function transportPlans(quiet: Side, marketId: string): Promise<Plan[]> {
  const ids: string[] = [];
  for (let i = 0; i < MARKETS; i++) {
    const { text } = await call(
      quiet,
      'POST',
      '/admin/markets',
      JSON.stringify({ question: `Market ${i}?` }),
    );
    ids.push((JSON.parse(text) as { id: string }).id);
  }
  const base = `/markets/${marketId}`;
  const http = (what: string, ...requests: Buffer[]): Plan => ({ what, attack: { requests } });
  const walk = (what: string, path: (i: number) => string): Plan =>
    http(what, ...Array.from({ length: WALK }, (_, i) => bytes('GET', path(i))));
  const nowSec = Math.floor(Date.now() / 1_000);
  const order = `${base}/orders`;
  return [
    ...streams(order),
    http('paths that are not there', bytes('GET', '/nothing/here')),
    http('bytes that are no request', Buffer.from('nonsense\r\n\r\n')),
    http('preflights', bytes('OPTIONS', order, undefined, 'Origin: https://a.example\r\n')),
    http('HEAD', bytes('HEAD', `${base}/orderbook`)),
    http('the largest file', bytes('GET', '/docs/swagger-ui-bundle.js')),
    http('the sitemap', bytes('GET', '/sitemap.xml')),
    http('tunnels', bytes('CONNECT', 'other:1')),
    http(
      'thousands of ETags',
      bytes(
        'GET',
        `${base}/orderbook`,
        undefined,
        `If-None-Match: ${'"1",'.repeat(HEADER_BYTES / 4)}"2"\r\n`,
      ),
    ),
    http('a header again and again', bytes('GET', '/time', undefined, 'A: b\r\n'.repeat(HEADER_BYTES / 6))),
    http(
      'offers of another protocol',
      bytes('GET', '/time', undefined, 'Connection: Upgrade\r\nUpgrade: h2c\r\n'),
    ),
    http('long polling', bytes('GET', '/socket.io/?EIO=4&transport=polling')),
    http('sockets that are refused', bytes('GET', '/socket.io/?EIO=3', undefined, UPGRADE)),
    http(
      'sockets opened and left',
      bytes('GET', '/socket.io/?EIO=4&transport=websocket', undefined, UPGRADE),
    ),
    http(`${MARKETS} books at once`, bytes('GET', `/orderbooks?ids=${ids.join(',')}`)),
    http(
      'thousands of ids',
      bytes(
        'GET',
        `/orderbooks?ids=${Array.from({ length: 4_000 }, (_, i) => i)
          .join(',')
          .slice(0, 15_000)}`,
      ),
    ),
    walk(
      'candles of other stretches',
      (i) => `${base}/candles?interval=1m&limit=1000&from=${nowSec - 60_000 - i * MINUTE_SEC}`,
    ),
    walk('trades of other stretches', (i) => `${base}/trades?limit=500&until=${nowSec * 1_000 + i}`),
    http(
      'wrong API keys',
      bytes(
        'GET',
        '/me/orders',
        undefined,
        bearer(() => `key_${randomBytes(60).toString('base64url')}`),
      ),
    ),
    http(
      'wrong tokens',
      bytes(
        'GET',
        '/me/orders',
        undefined,
        bearer(() => token({ alg: 'HS256' })),
      ),
    ),
    http(
      'tokens of no algorithm',
      bytes(
        'GET',
        '/me/orders',
        undefined,
        bearer(() => token({ alg: 'none' })),
      ),
    ),
    http('deep JSON', bytes('POST', order, '['.repeat(BODY_BYTES))),
    http(
      'a prototype',
      bytes('POST', order, `{"__proto__":${'{"__proto__":'.repeat(1_000)}1${'}'.repeat(1_000)}}`),
    ),
    http(
      'sign-ins of maximal size',
      bytes(
        'POST',
        '/auth/verify',
        JSON.stringify({ message: 'x'.repeat(BODY_BYTES), signature: `0x${'11'.repeat(65)}` }),
      ),
    ),
    packet('acknowledgements that nobody waits for', `43${'9'.repeat(15)}[${'1,'.repeat(5_000)}1]`),
    packet('other namespaces', '0/other,'),
    packet('announced attachments', '459-["subscribe",{"_placeholder":true,"num":0}]'),
  ];
}

/** Endless bytes; the server has to close the connection. */
function streams(order: string): Plan[] {
  const chunked = 'Transfer-Encoding: chunked\r\n';
  const stream = (what: string, head: Buffer, more: string): Plan => ({
    what,
    attack: { stream: { head, more: Buffer.from(more) } },
  });
  return [
    stream('GET in chunks of a byte', bytes('GET', '/time', undefined, chunked), '1\r\n \r\n'.repeat(500)),
    stream(
      'a submission in chunks of a byte',
      bytes('POST', order, undefined, `${chunked}${JSON_TYPE}`),
      '1\r\n \r\n'.repeat(500),
    ),
    stream('line ends without a request', Buffer.from('\r\n'), '\r\n'.repeat(50_000)),
    stream(
      'a body without an end',
      bytes('POST', order, undefined, `${chunked}${JSON_TYPE}`),
      `8000\r\n${' '.repeat(0x8000)}\r\n`,
    ),
  ];
}

const JSON_TYPE = 'Content-Type: application/json\r\n';
const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

const bearer = (made: () => string): string => `Authorization: Bearer ${made()}\r\n`;

function token(head: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ typ: 'JWT', ...head })}.${part({ sub: `0x${'11'.repeat(20)}` })}.${randomBytes(32).toString('base64url')}`;
}

const packet = (what: string, text: string): Plan => ({
  what,
  attack: { socket: { event: '', message: null, packet: text, everyMs: 1 } },
});
