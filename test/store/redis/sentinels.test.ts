import type { Redis } from 'ioredis';
import { gapOf } from '../../../src/store/health/durability';
import { logTextOf } from '../../../src/store/redis/causes';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { startTestRedis } from '../../support/redis';
import { PRIMARY_NAME, startSentinels } from '../../support/sentinels';
import { READY_MS, until } from '../../support/waiting';

/** No process listens there. */
const CLOSED_PORT = 1;

interface Private {
  readonly connector: {
    readonly failoverDetector: {
      readonly sentinels: readonly { readonly client: Redis }[];
      disconnect(): void;
    } | null;
  };
}

test('one of the Sentinels may be away: the next one is asked, and nothing is printed', async () => {
  const redis = await startTestRedis();
  const sentinels = await startSentinels(redis.port);
  const urls = [CLOSED_PORT, ...sentinels.ports].map(
    (port) => `redis+sentinel://127.0.0.1:${port}/${PRIMARY_NAME}`,
  );
  const errors: string[] = [];
  const client = connect({ urls, onError: (error) => errors.push(error.message) });
  const queue = connect({ urls, blocking: true });
  try {
    await Promise.all([ready(client, READY_MS), ready(queue, READY_MS)]);
    expect(await client.set('x', 'here')).toBe('OK');
    expect(await queue.get('x')).toBe('here');
    expect(errors).toEqual([]);
    // Private parts of ioredis: docs/decisions/033-private-parts.md.
    const notifying = (client as unknown as Private).connector.failoverDetector?.sentinels ?? [];
    expect(notifying.length).toBeGreaterThanOrEqual(2);
    await until('every one has a listener', () =>
      notifying.every((one) => one.client.listenerCount('error') > 0),
    );
    expect((queue as unknown as Private).connector.failoverDetector).toBeNull();
  } finally {
    disconnect(client);
    disconnect(queue);
    await sentinels.stop();
    await redis.stop();
  }
});

test('a Redis in the place of a Sentinel is an error that says so, with the same text at each attempt', async () => {
  const redis = await startTestRedis();
  const texts: string[] = [];
  const client = connect({
    urls: [`redis+sentinel://127.0.0.1:${redis.port}/${PRIMARY_NAME}`],
    onError: (error) => texts.push(logTextOf(error)),
  });
  try {
    await expect(ready(client, 1_000)).rejects.toThrow(/it is a Redis and no Sentinel: use redis:/);
    await until('it has tried three times', () => texts.length >= 3);
    expect([...new Set(texts)]).toEqual([expect.stringMatching(/^it is a Redis and no Sentinel: /)]);
  } finally {
    disconnect(client);
    await redis.stop();
  }
});

test('a cluster that cannot be reached is an error with each of its nodes', async () => {
  const urls = [1, 2].map((port) => `redis://127.0.0.1:${port}`);
  const client = connect({ urls });
  try {
    await expect(ready(client, 1_000)).rejects.toThrow(
      /127\.0\.0\.1:1: nothing listens there.*127\.0\.0\.1:2: nothing listens there|127\.0\.0\.1:2: nothing.*127\.0\.0\.1:1: nothing/,
    );
  } finally {
    disconnect(client);
  }
});

test('a name that no Sentinel knows is an error that says so', async () => {
  const redis = await startTestRedis();
  const sentinels = await startSentinels(redis.port);
  const client = connect({ urls: [`redis+sentinel://127.0.0.1:${sentinels.ports[0]}/other`] });
  try {
    await expect(ready(client, 1_000)).rejects.toThrow(/no Sentinel of REDIS_URL knows that name/);
  } finally {
    disconnect(client);
    await sentinels.stop();
    await redis.stop();
  }
});

test('Sentinels must not have more replicas to promote than confirm', async () => {
  const redis = await startTestRedis();
  const sentinels = await startSentinels(redis.port);
  const behind = connect({ urls: [`redis+sentinel://127.0.0.1:${sentinels.ports[0]}/${PRIMARY_NAME}`] });
  const direct = connect({ urls: [redis.url] });
  try {
    expect(gapOf(1, 1, behind as Redis)).toBeNull();
    expect(gapOf(2, 1, behind as Redis)).toMatch(/set REDIS_REPLICAS=2/);
    expect(gapOf(2, 0, behind as Redis)).toBeNull();
    // Who moves a name chooses the replica.
    expect(gapOf(2, 1, direct as Redis)).toBeNull();
  } finally {
    disconnect(behind);
    disconnect(direct);
    await sentinels.stop();
    await redis.stop();
  }
});

test('a notification that comes while the client asks Sentinels does not end it', async () => {
  const redis = await startTestRedis();
  const sentinels = await startSentinels(redis.port);
  const client = connect({ urls: [`redis+sentinel://127.0.0.1:${sentinels.ports[0]}/${PRIMARY_NAME}`] });
  try {
    await ready(client, READY_MS);
    const { failoverDetector } = (client as unknown as Private).connector;
    // What a notification calls.
    const notified = new Promise<void>((resolve) => {
      client.once('connecting', () => {
        expect(client.status).toBe('connecting');
        failoverDetector?.disconnect();
        resolve();
      });
    });
    client.disconnect(true);
    await notified;
    await until('it is back', async () => (await client.ping().catch(() => null)) === 'PONG');
  } finally {
    disconnect(client);
    await sentinels.stop();
    await redis.stop();
  }
});
