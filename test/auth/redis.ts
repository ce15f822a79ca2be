import { Redis } from 'ioredis';
import { startTestRedis } from '../support/redis';

export interface TestRedis {
  readonly port: number;
  /** A further connection, as another replica has one; closed by `stop`. */
  client(): Redis;
  stop(): Promise<void>;
}

/** A Redis of the test's own, and connections to it. */
export async function startRedis(): Promise<TestRedis> {
  const { port, stop } = await startTestRedis();
  const clients: Redis[] = [];
  return {
    port,
    client: () => {
      const client = new Redis(port, '127.0.0.1');
      clients.push(client);
      return client;
    },
    stop: () => {
      for (const client of clients) client.disconnect();
      return stop();
    },
  };
}
