import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Exposition } from './metrics';

export interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** The checks that the server can answer. */
export interface Asked {
  expose(): Promise<Exposition>;
  /** Why the worker should be started again; null while it should not. */
  stuck(): string | null;
  /** Never rejects. */
  readiness(): Promise<Readiness>;
}

export interface Readiness {
  /** The reason why the worker cannot work; null when it can. */
  readonly problem: string | null;
  /** The layout of the data, where it is known. */
  readonly layout?: number | null;
  /** Which of several shards it reaches. */
  readonly shards?: Readonly<Record<string, 'up' | 'down'>>;
}

interface Answer extends Exposition {
  readonly status: number;
}

const json = (status: number, body: object): Answer => ({
  status,
  type: 'application/json',
  text: JSON.stringify(body),
});

const REQUEST_TIMEOUT_MS = 5_000;

/** The HTTP server of a worker, for Prometheus and for a supervisor that checks whether the worker is alive. */
export async function serveMetrics(port: number, host: string | null, asked: Asked): Promise<MetricsServer> {
  const answers: Readonly<Record<string, () => Promise<Answer>>> = {
    '/metrics': async () => ({ status: 200, ...(await asked.expose()) }),
    '/livez': async () => {
      const detail = asked.stuck();
      return detail === null ? json(200, { status: 'alive' }) : json(503, { status: 'not alive', detail });
    },
    '/readyz': async () => {
      const { problem, ...facts } = await asked.readiness();
      return problem === null
        ? json(200, { status: 'ready', ...facts })
        : json(503, { status: 'not ready', detail: problem });
    },
  };
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, async (request, response) => {
    const answer = request.method === 'GET' ? answers[request.url ?? ''] : undefined;
    const { status, type, text } = answer ? await answer() : json(404, { status: 'not found' });
    response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host ?? undefined, () => {
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
