import type { Redis } from 'ioredis';
import { Refusal } from '../../../../src/exchange/errors';
import { micro } from '../../../../src/exchange/units';
import { createShardRaisedNonces } from '../../../../src/extensions/shards/store/shard-nonces';
import type { RunningRedis } from '../../../../src/local/redis';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys, type Keys } from '../../../../src/store/redis/keys';
import { createScripts, type RunScript } from '../../../../src/store/redis/scripts';
import { createEngine, type Engine } from '../../../../src/store/verbs/engine';
import { createRaisedNonces } from '../../../../src/store/verbs/invalidate';
import type { PlaceRequest } from '../../../../src/store/verbs/place';
import { startTestRedis } from '../../../support/redis';
import { READY_MS } from '../../../support/waiting';
import { GRANT, openShardWorld } from './world';

/** An exchange of four shards and one of one shard, with the same markets. */
export interface Twin {
  readonly engine: Engine;
  /** That of another process. */
  readonly other: Engine;
  readonly redis: Redis;
  readonly run: RunScript;
  readonly shards: readonly Keys[];
  readonly ids: readonly string[];
}

export type Twins = Awaited<ReturnType<typeof openTwins>>;

const COUNT = 4;

export async function openTwins(manyUrl: string, oneUrl: string) {
  const w = await openShardWorld({ urls: [manyUrl], count: COUNT });
  const second = await openShardWorld({ urls: [manyUrl], count: COUNT, isOpen: true });
  const redis = connect({ urls: [oneUrl] }) as Redis;
  await ready(redis, READY_MS);
  await redis.flushall();
  const run = createScripts(redis);
  const keys = createKeys();
  const engine = createEngine({ run, grantMicro: micro(GRANT), makersMax: 500 });
  const { ids } = w;
  for (const id of ids)
    await engine.createMarket({ id, conditionId: `0x${id}`, slug: `slug-${id}` }, '{}', 'OPEN');
  const many: Twin = {
    engine: w.exchange,
    other: second.exchange,
    run: w.run,
    shards: w.shards,
    ids,
    redis: w.redis as Redis,
  };
  const one: Twin = { engine, other: engine, redis, run, shards: [keys], ids };
  return {
    many,
    one,
    order: w.order,
    differences: w.differences,
    /** The wallets that a worker finds on the lists of raised nonces; the same for both. */
    async raised(): Promise<ReadonlyMap<string, number>> {
      const found = await createShardRaisedNonces({ redis: w.redis, shards: w.shards })();
      expect(found).toEqual(await createRaisedNonces({ redis, keys })());
      return found;
    },
    stop() {
      w.stop();
      second.stop();
      disconnect(redis);
    },
  };
}

/** An answer without its times; orders of several shards have no common order. */
export async function answerOf(answer: Promise<unknown>): Promise<unknown> {
  const told = await answer.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    return { code: error.code, extra: error.extra, message: error.message };
  });
  return told === undefined ? 'done' : JSON.parse(JSON.stringify(told, withoutTimes));
}

function withoutTimes(name: string, value: unknown): unknown {
  if (/Ms$/.test(name) && typeof value === 'number') return value === 0 ? 0 : 'a time';
  if (value instanceof Map) return [...value].sort();
  return name === 'cancelled' && Array.isArray(value) ? [...value].sort() : value;
}

/** Twins for each test of a file. */
export function useTwins() {
  let servers: RunningRedis[] = [];
  let twins: Twins;
  const url = (i = 0): string => servers[i]?.url ?? '';
  beforeAll(async () => {
    servers = await Promise.all([startTestRedis(), startTestRedis()]);
  });
  beforeEach(async () => {
    twins = await openTwins(url(), url(1));
  });
  afterEach(() => twins.stop());
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  /** Tells a story to both, and expects the same answers, of which there must be `count`. */
  async function same(count: number, story: (twin: Twin) => Promise<unknown[]>): Promise<unknown[]> {
    const [many, one] = await Promise.all([story(twins.many), story(twins.one)]);
    expect(many).toEqual(one);
    expect(many).toHaveLength(count);
    expect(await twins.differences()).toEqual([]);
    return many;
  }
  // Orders are drawn before a story, so both get the same.
  const order = (...args: Parameters<Twins['order']>) => twins.order(...args);
  const buy = (market: number, who: string, pips: number, shares: number, more: Partial<PlaceRequest> = {}) =>
    order(market, who, 0, 0, pips, shares * 100, more);
  return { url, same, order, buy, raised: () => twins.raised() };
}
