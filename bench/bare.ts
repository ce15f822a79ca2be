import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The smallest cost of an HTTP answer here: a bare `node:http` server that always returns the answer set by its parent. */
interface Canned {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let canned: Canned = { status: 204, headers: {}, body: Buffer.alloc(0) };
const OWN = new Set(['date', 'connection', 'keep-alive']);

const server = createServer({ keepAliveTimeout: 65_000 }, (_request, response) => {
  response.writeHead(canned.status, canned.headers);
  response.end(canned.body);
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (told: Canned | 'cpu') => {
  if (told === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system });
    return;
  }
  const kept = Object.entries(told.headers).filter(([name]) => !OWN.has(name));
  canned = { ...told, headers: Object.fromEntries(kept), body: Buffer.from(told.body) };
  process.send?.({ ready: true });
});
process.on('disconnect', () => process.exit(0));
