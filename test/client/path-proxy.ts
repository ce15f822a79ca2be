import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** A proxy that serves an exchange below a path of its host, which it takes off. Nothing else of the host exists. */
export async function startPathProxy(targetPort: number, prefix: string) {
  const target = { host: '127.0.0.1', port: targetPort };
  const within = (url = ''): string | null =>
    url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : null;
  const server = createServer((asked, answer) => {
    const path = within(asked.url);
    if (path === null) return answer.writeHead(404).end();
    const { method, headers } = asked;
    const upstream = request({ ...target, path, method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    asked.pipe(upstream);
  });
  server.on('upgrade', ({ url, headers }, socket) => {
    const path = within(url);
    if (path === null) return socket.destroy();
    const upstream = connect(target, () => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      upstream.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      upstream.pipe(socket).pipe(upstream);
    });
    for (const one of [upstream, socket])
      one.on('error', () => undefined).on('close', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
