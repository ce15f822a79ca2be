import { connect } from 'node:net';
import { io } from 'socket.io-client';
import { until } from '../support/waiting';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** Frames and packets that no library sends. Each ends its own socket and nothing else. */
let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas({ env: { RATE_LIMIT: 'on' } });
});
afterAll(() => exchange.stop());
/** The patience of a test on a busy machine. */
const PATIENCE_MS = 60_000;
jest.setTimeout(2 * PATIENCE_MS);

const UPGRADE = [
  'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1',
  ...['Host: x', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Extensions: permessage-deflate',
  ...['Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', '', ''],
].join('\r\n');
const [TEXT, BINARY, PING] = [1, 2, 9];
const MASK = Buffer.alloc(4);
/** The beginnings of a frame that closes: without a reason, or with one of two bytes. */
const CLOSING = ['\x88\x00', '\x88\x02'];

interface Shape {
  readonly isLast?: boolean;
  /** The bits that an extension would set; 4 is the one of compression. */
  readonly reserved?: number;
  /** The length that is announced. */
  readonly length?: number;
}

/** A frame of a client, masked with zeros. */
function frame(kind: number, content: string | Buffer, { isLast = true, reserved = 0, length }: Shape = {}) {
  const bytes = Buffer.from(content);
  const size = length ?? bytes.length;
  const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
  head[0] = (isLast ? 0x80 : 0) | (reserved << 4) | kind;
  head[1] = 0x80 | (size < 126 ? size : size < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(size, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([head, MASK, bytes]);
}

const text = (content: string): Buffer => frame(TEXT, content);
const PROMISE = '-["subscribe",{"_placeholder":true,"num":0}]';
const part = frame(0, 'x'.repeat(5_000), { isLast: false });

/** A connection of its own that has become a socket; what the exchange sent since. */
async function opened() {
  let heard = '';
  let isGone = false;
  const socket = connect(exchange.replicas[0].port, '127.0.0.1', () => socket.write(UPGRADE));
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isGone = true;
  });
  socket.on('data', (data) => {
    heard += data.toString('latin1');
  });
  const hears = (what: string) => until(what, () => heard.includes(what), { patienceMs: PATIENCE_MS });
  await hears('"sid"');
  expect(heard).not.toContain('permessage-deflate');
  socket.write(text('40'));
  await hears('40{"sid"');
  heard = '';
  return { socket, hears, isClosed: () => isGone || CLOSING.some((bytes) => heard.includes(bytes)) };
}

test.each<[string, Buffer]>([
  ['an announced petabyte', frame(TEXT, 'x', { length: 2 ** 50 })],
  ['17 kB', text('x'.repeat(17_000))],
  ['fragments without an end', Buffer.concat([frame(TEXT, 'x', { isLast: false }), part, part, part, part])],
  ['a compressed frame', frame(TEXT, 'xxxx', { reserved: 4 })],
  ['reserved bits', frame(TEXT, 'xxxx', { reserved: 1 })],
  ['a reserved kind', frame(5, 'x')],
  ['a frame without a mask', Buffer.from([0x81, 1, 0x32])],
  ['text that is no UTF-8', frame(TEXT, Buffer.from([0xff, 0xfe]))],
  ['a ping of 126 bytes', frame(PING, 'x'.repeat(126))],
  ['a ping in fragments', frame(PING, 'x', { isLast: false })],
  ['an attachment without a promise', frame(BINARY, 'x')],
  ['text in place of a promised attachment', Buffer.concat([text(`451${PROMISE}`), text('42["rain"]')])],
  ['a trillion promised attachments', text(`451000000000000${PROMISE}`)],
  ['an event that is no list', text('42{"a":1}')],
  ['an event that is no JSON', text('421["subscribe",')],
  ['two connects', text('40')],
])('%s ends the socket', async (_what, bytes) => {
  const { socket, isClosed } = await opened();
  socket.write(bytes);
  await until('it is closed', isClosed, { patienceMs: PATIENCE_MS });
  socket.destroy();
});

test.each([
  ['a number without end', `42${'9'.repeat(400)}["subscribe","x"]`, 'INVALID_REQUEST'],
  ['lists in lists', `421["subscribe",${'['.repeat(7_000)}${']'.repeat(7_000)}]`, 'INVALID_REQUEST'],
  [
    '1e999',
    `421["subscribe",{"conditionId":"0x${'ab'.repeat(32)}","lastSequence":1e999}]`,
    'INVALID_REQUEST',
  ],
  ['an unknown namespace', '40/__proto__,', 'Invalid namespace'],
])('%s is refused, and the socket stays open', async (_what, content, refusal) => {
  const { socket, hears, isClosed } = await opened();
  socket.write(text(content));
  await hears(refusal);
  expect(isClosed()).toBe(false);
  socket.destroy();
});

test('a socket that waits for its own attachment holds up no other, and no bug is logged', async () => {
  const waiting = await opened();
  waiting.socket.write(text(`451${PROMISE}`));
  const other = io(exchange.replicas[0].url, {
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
  });
  const { error } = await other.timeout(PATIENCE_MS).emitWithAck('subscribe', `0x${'ab'.repeat(32)}`);
  expect(error.code).toBe('MARKET_NOT_FOUND');
  expect(waiting.isClosed()).toBe(false);
  other.disconnect();
  waiting.socket.destroy();
  expect(exchange.logged.join('\n')).not.toMatch(/INTERNAL|"level":"error"/);
});
