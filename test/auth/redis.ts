import { Redis } from 'ioredis';
import { startTestRedis } from '../support/redis';

export interface TestRedis {
  readonly port: number;
  /** Opens another connection, as another replica has one; `stop` closes it. */
  client(): Redis;
  stop(): Promise<void>;
}

/** A Redis for the test alone, and connections to it. */
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
