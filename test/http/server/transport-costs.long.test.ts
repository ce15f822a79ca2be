import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { noPace, type Pace } from '../../../src/http/guard/request-pacing';
import { guardTransport } from '../../../src/http/server/transport';
import { PACE } from '../../../src/wire/limits';
import { sendRaw } from '../../support/raw-http';
import { sleep, until } from '../../support/waiting';

const PATIENCE_MS = 20_000;

/** What a connection costs outside its requests; that an address without points waits is in test/hostile/connections.test.ts. */
test.each([
  ['bytes that are no request', 'nonsense\r\n\r\n', 400],
  ['a tunnel', 'CONNECT other:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
])(
  'a connection costs its address a point, and %s as much as a refused request',
  async (_what, request, status) => {
    const charged: [string, number][] = [];
    const pace: Pace = { ...noPace, charge: (address, points) => void charged.push([address, points]) };
    const server = createServer();
    guardTransport(server, pace, false);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    expect((await sendRaw((server.address() as AddressInfo).port, request, PATIENCE_MS)).status).toBe(status);
    server.close();
    expect(charged).toEqual([
      ['127.0.0.1', PACE.connection],
      ['127.0.0.1', PACE.request + PACE.refused],
    ]);
  },
);

test('a malformed request that waits costs nothing until its turn, so those that wait with it are not answered at once', async () => {
  const charged: number[] = [];
  const pace: Pace = {
    isOn: true,
    charge: (_, points) => void charged.push(points),
    debtMs: () => 0,
    whenPaid: () => {},
  };
  const server = createServer();
  guardTransport(server, pace, false);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { text } = await sendRaw((server.address() as AddressInfo).port, 'nonsense\r\n\r\n');
  server.close();
  expect([text, charged]).toEqual(['', [PACE.connection]]);
});

test('a connection of an address in debt is not read before the debt is paid', async () => {
  const paid: (() => void)[] = [];
  const pace: Pace = {
    ...noPace,
    debtMs: () => 1,
    whenPaid: (_address, _socket, then) => void paid.push(then),
  };
  const server = createServer((_request, response) => void response.end());
  guardTransport(server, pace, false);
  let opened: Socket | undefined;
  server.on('connection', (socket) => {
    opened = socket;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await until('the connection waits', () => paid.length === 1);
  // Long enough for a server that reads it: the request has arrived on this machine.
  await sleep(300);
  expect(opened?.bytesRead).toBe(0);
  paid[0]?.();
  const [answer] = await once(client, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200/);
  client.destroy();
  server.close();
});

test('a connection that has waited owes what it may cost until its first request', async () => {
  const charged: number[] = [];
  const pace: Pace = { ...noPace, debtMs: () => 1, charge: (_address, points) => void charged.push(points) };
  const server = createServer((_request, response) => void response.end());
  guardTransport(server, pace, false);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { status } = await sendRaw(
    (server.address() as AddressInfo).port,
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  server.close();
  expect([status, charged]).toEqual([200, [PACE.connection, PACE.cut, -PACE.cut]]);
});
