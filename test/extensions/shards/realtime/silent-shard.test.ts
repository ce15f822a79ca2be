import { pino } from 'pino';
import type { MarketTerms } from '../../../../src/exchange/market';
import { lots } from '../../../../src/exchange/units';
import { broadcastsOverShards } from '../../../../src/extensions/shards/store/broadcasts';
import { createDirectory } from '../../../../src/extensions/shards/store/directory';
import { createMarketFeed } from '../../../../src/realtime/feed/market-feed';
import { createSnapshots } from '../../../../src/realtime/feed/snapshots';
import type { BookUpdate } from '../../../../src/store/outbox/book-update';
import { createBroadcasts } from '../../../../src/store/outbox/update-log';
import type { Reads } from '../../../../src/store/reads/reads';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys } from '../../../../src/store/redis/keys';
import { createScripts } from '../../../../src/store/redis/scripts';
import { startTestRedis } from '../../../support/redis';
import { READY_MS, until } from '../../../support/waiting';

/** Two shards, each on a Redis of its own. */
const LEASE = 'the lease of this test';

async function openShard(shard: number) {
  const server = await startTestRedis();
  const redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  const [keys, run] = [createKeys(shard), createScripts(redis)];
  await redis.set(keys.lease, LEASE);
  const broadcasts = createBroadcasts({ redis, run, keys });
  const stop = async () => {
    disconnect(redis);
    await server.stop();
  };
  const id = `market${shard}0`;
  const terms = { id, conditionId: `0x${id}`, lotLots: lots(1) } as MarketTerms;
  const publish = (previousSequence: number, sequence: number) => {
    const update: BookUpdate = {
      previousSequence,
      sequence,
      timestampMs: 1,
      reason: 'ORDER',
      marketChanged: false,
      bestBid: null,
      bestAsk: null,
      checksum: '00000000',
      levels: [],
      matches: [],
    };
    const reached = { before: '0-0', at: '0-0' };
    return broadcasts.publish(LEASE, 60_000, reached, [{ marketId: id, update, restart: false }]);
  };
  return { server, redis, keys, broadcasts, terms, publish, stop };
}

test('a shard that is silent keeps no update and no heartbeat from the markets of another', async () => {
  const [here, away] = [await openShard(0), await openShard(1)];
  const parts = [here, away];
  try {
    for (const [k, { terms, publish }] of parts.entries()) {
      await here.redis.hset(here.keys.marketShards, terms.id, k);
      await publish(0, 1);
    }
    const directory = createDirectory({ redis: here.redis, keys: here.keys, count: 2 });
    const broadcasts = broadcastsOverShards(
      directory,
      parts.map((part) => part.broadcasts),
    );
    const reads = { clock: Date.now, view: () => Promise.reject(new Error('no')) } as Pick<
      Reads,
      'clock' | 'view'
    >;
    const told: string[] = [];
    const feed = createMarketFeed({
      broadcasts,
      reads,
      snapshots: createSnapshots({ broadcasts, reads, doubts: () => 0 }),
      log: pino({ level: 'silent' }),
      emit: (room, event) => told.push(`${room} ${event}`),
      isHeard: () => true,
    });
    for (const { terms } of parts) await feed.track(terms);
    await feed.heartbeat();
    expect(told.splice(0)).toEqual(['m:market00 heartbeat', 'm:market10 heartbeat']);
    await away.server.stop();
    await until('the connection is lost', () => away.redis.status !== 'ready');
    await here.publish(1, 2);
    await feed.heartbeat();
    expect(told).toEqual(['m:market00 orderbook:update', 'm:market00 heartbeat']);
    await expect(feed.catchUp()).rejects.toThrow('1 markets are silent');
  } finally {
    for (const { stop } of parts) await stop();
  }
});
