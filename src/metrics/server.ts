import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Exposition } from './metrics';

export interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 5_000;

/** A worker answers no requests of clients; this is for Prometheus and for a supervisor that wants a sign of life. */
export async function serveMetrics(port: number, expose: () => Promise<Exposition>): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, async (request, response) => {
    const isMetrics = request.url === '/metrics';
    if (request.method !== 'GET' || !(isMetrics || request.url === '/livez')) {
      response.writeHead(404).end();
      return;
    }
    const { type, text } = isMetrics
      ? await expose()
      : { type: 'application/json', text: '{"status":"alive"}' };
    response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
