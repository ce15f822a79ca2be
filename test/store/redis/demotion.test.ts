import { Redis } from 'ioredis';
import { connectByName } from '../../../src/store/redis/demotion';
import { startProxy } from '../../support/proxy';
import { startTestRedis } from '../../support/redis';
import { stopAll } from '../../support/stopping';
import { until } from '../../support/waiting';

test('a connection follows the others to another primary, and stays when it has reached that one by itself', async () => {
  const [first, second] = await Promise.all([startTestRedis(), startTestRedis()]);
  const name = await startProxy(first.port);
  const ready = new Map<Redis, number>();
  const clients = Array.from({ length: 3 }, () => {
    const client = connectByName(
      `127.0.0.1:${name.port}`,
      { retryStrategy: () => 20, maxRetriesPerRequest: 0, enableOfflineQueue: false },
      { isBlocking: false, isFollowed: true },
      (options) => new Redis(name.port, '127.0.0.1', options),
    );
    ready.set(client, 0);
    client.on('error', () => undefined).on('ready', () => ready.set(client, (ready.get(client) ?? 0) + 1));
    return client;
  });
  const everyOneWasReady = async (times: number): Promise<void> => {
    await until('they are ready', () => [...ready.values()].every((count) => count >= times));
    // Replies behind those of any question that a connection asks for itself when it is ready.
    for (let i = 0; i < 3; i++) await Promise.all(clients.map((client) => client.info()));
    expect([...ready.values()]).toEqual(clients.map(() => times));
  };
  try {
    await everyOneWasReady(1);
    name.retarget(second.port);
    name.cut();
    await everyOneWasReady(2);
    // The others are with a server that answers.
    name.retarget(first.port);
    clients[0]?.disconnect(true);
    await everyOneWasReady(3);
  } finally {
    for (const client of clients) client.disconnect();
    await stopAll(name.stop, first.stop, second.stop);
  }
});
