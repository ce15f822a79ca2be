import type { MarketView } from '../../../../src/exchange/facts';
import { micro } from '../../../../src/exchange/units';
import { createDirectory } from '../../../../src/extensions/shards/store/directory';
import { marketListOverShards } from '../../../../src/extensions/shards/store/market-list';
import { createListing, type Listing } from '../../../../src/extensions/shards/store/markets';
import type { RunningRedis } from '../../../../src/local/redis';
import { createMarkets } from '../../../../src/store/markets/markets';
import { createMarketList } from '../../../../src/store/reads/market-list';
import { decodeMarket, decodeState } from '../../../../src/store/records/market';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys } from '../../../../src/store/redis/keys';
import {
  createScripts,
  type RedisClient,
  type RunScript,
  scriptSources,
} from '../../../../src/store/redis/scripts';
import { shardOfMarket } from '../../../../src/store/redis/tags';
import { createEngine, type Engine } from '../../../../src/store/verbs/engine';
import { startTestRedis } from '../../../support/redis';
import { READY_MS } from '../../../support/waiting';

/** Markets of an exchange with four shards: their names, their places, and creations that end early. */
const keys = Array.from({ length: 4 }, (_, k) => createKeys(k));
const [first] = keys as [(typeof keys)[number]];
let server: RunningRedis;
let redis: RedisClient;
let run: RunScript;
beforeAll(async () => {
  server = await startTestRedis();
  redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  run = createScripts(redis, scriptSources());
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  disconnect(redis);
  await server.stop();
});

/** A process. `dies` names the step before which it ends. */
function open(dies: 'create' | 'list' | null = null) {
  const directory = createDirectory({ redis, keys: first, count: 4 });
  const dying: RunScript = (name, ...rest) =>
    dies === 'list' && name === 'list_market' ? Promise.reject(new Error('died')) : run(name, ...rest);
  const shards = keys.map((own) => {
    const engine: Engine = createEngine({ run, keys: own, grantMicro: micro(0), makersMax: 500 });
    const createMarket: Engine['createMarket'] =
      dies === 'create' ? () => Promise.reject(new Error('died')) : engine.createMarket;
    return { keys: own, engine: { ...engine, createMarket } };
  });
  const listing: Listing = createListing({ redis, run: dying, directory, shards });
  const clock = { now: () => ++time, observe: () => undefined };
  const markets = createMarkets({
    engine: { ...(shards[0]?.engine as Engine), createMarket: listing.createMarket },
    clock,
    ctfIds: (_, questionId) => ({ conditionId: questionId, tokenIds: ['1', '2'] }),
    defaultOracle: '0x00',
    partitions: 4,
  });
  const view =
    (own: (typeof keys)[number]) =>
    async (id: string): Promise<MarketView> => ({
      ...decodeMarket((await redis.hgetBuffer(own.markets, id)) as Buffer),
      state: decodeState(
        Object.entries(await redis.hgetallBuffer(own.market(id))).flatMap(([name, value]) => [
          Buffer.from(name),
          value,
        ]),
      ),
      day: NO_DAY,
      nowMs: 0,
    });
  const parts = keys.map((own) =>
    createMarketList({
      redis,
      keys: own,
      clock,
      history: { day: async () => NO_DAY },
      doubts,
      view: view(own),
    }),
  );
  return { directory, markets, listing, list: marketListOverShards({ redis, keys: first, parts, doubts }) };
}
const NO_DAY = {} as MarketView['day'];
const doubts = () => 0;
let time = 1_700_000_000_000;

const questionId = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`.replace('0x0', '0x1');
const slugs = async (list: () => Promise<readonly MarketView[]>) =>
  (await list()).map(({ terms }) => terms.slug);
const refusal = (path: string, message: string) => ({
  code: 'INVALID_REQUEST',
  extra: { errors: [{ path, message }] },
});

test('a market is in the shard that the operator names, and else in that of its event or its id', async () => {
  const { markets, directory } = open();
  const named = await markets.create({ question: 'named', shard: 3 });
  const event = { slug: 'cup', title: 'The cup' };
  const [one, two] = [
    await markets.create({ question: 'one', event }),
    await markets.create({ question: 'two', event }),
  ];
  const alone = await markets.create({ question: 'alone' });
  expect(await directory.shardOf(named.terms.id)).toBe(3);
  expect(await directory.shardOf(one.terms.id)).toBe(await directory.shardOf(two.terms.id));
  expect(await directory.shardOf(one.terms.id)).toBe(shardOfMarket({ event, id: 'any' }, 4));
  expect(await directory.shardOf(alone.terms.id)).toBe(shardOfMarket({ id: alone.terms.id }, 4));
  for (const { terms } of [named, one, two, alone]) {
    const has = await Promise.all(keys.map(({ markets: mk }) => redis.hexists(mk, terms.id)));
    expect(has.indexOf(1)).toBe(await directory.shardOf(terms.id));
    expect(has.filter((found) => found === 1)).toHaveLength(1);
  }
  await expect(markets.create({ question: 'beyond', shard: 4 })).rejects.toMatchObject(
    refusal('shard', 'must be at most 3'),
  );
});

test('names are unique and events have one title and 50 markets over all shards', async () => {
  const { markets } = open();
  await markets.create({ question: 'q', slug: 'rain', questionId: questionId(1), shard: 1 });
  await expect(markets.create({ question: 'q', slug: 'rain', shard: 2 })).rejects.toMatchObject(
    refusal('slug', 'belongs to another market'),
  );
  await expect(
    markets.create({ question: 'q', slug: 'other', questionId: questionId(1), shard: 2 }),
  ).rejects.toMatchObject(refusal('questionId', 'belongs to another market'));
  for (let i = 0; i < 50; i++)
    await markets.create({ question: 'q', event: { slug: 'cup', title: 'The cup' }, shard: i % 4 });
  await expect(
    markets.create({ question: 'q', event: { slug: 'cup', title: 'A cup' }, shard: 1 }),
  ).rejects.toMatchObject(refusal('event.title', 'must be "The cup", as in the other markets of this event'));
  await expect(
    markets.create({ question: 'q', event: { slug: 'cup', title: 'The cup' }, shard: 1 }),
  ).rejects.toMatchObject(refusal('event', 'has no place left'));
});

test('the list has the markets of all shards in order, changes with any of them, and is the same array until then', async () => {
  const { markets, list } = open();
  for (let i = 0; i < 12; i++) await markets.create({ question: 'q', slug: `m${i}`, shard: (i * 7) % 4 });
  const names = Array.from({ length: 12 }, (_, i) => `m${i}`);
  const before = await list();
  expect(before.map(({ terms }) => terms.slug)).toEqual(names);
  expect(await list()).toBe(before);
  await markets.create({ question: 'q', slug: 'm12', shard: 2 });
  expect(await slugs(list)).toEqual([...names, 'm12']);
  const moved = (await list())[3] as MarketView;
  const shard = Number(await redis.hget(first.marketShards, moved.terms.id));
  const engine = createEngine({ run, keys: createKeys(shard), grantMicro: micro(0), makersMax: 500 });
  await engine.moveMarket(moved.terms.id, 'PAUSED', ['OPEN']);
  const after = await list();
  expect(after[3]?.state.status).toBe('PAUSED');
  expect(after).not.toBe(before);
});

describe.each(['create', 'list'] as const)('a process that ends before it could %s the market', (dies) => {
  const input = { question: 'q', slug: 'rain', questionId: questionId(7), shard: 2, draft: true };
  beforeEach(async () => {
    await expect(open(dies).markets.create(input)).rejects.toThrow('died');
    const { list } = open();
    expect(await slugs(list)).toEqual([]);
  });

  test('leaves the rest to the chore', async () => {
    const { listing, list } = open();
    await Promise.all([listing.finish(), open().listing.finish()]);
    expect(await slugs(list)).toEqual(['rain']);
    expect((await list())[0]?.state.status).toBe('DRAFT');
    expect(await redis.exists(first.claims)).toBe(0);
    await listing.finish();
    expect(await redis.lrange(first.allMarkets, 0, -1)).toHaveLength(1);
  });

  test('leaves the rest to the same request', async () => {
    const { markets, list } = open();
    expect((await markets.create(input)).terms.slug).toBe('rain');
    expect(await slugs(list)).toEqual(['rain']);
    await expect(markets.create(input)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  test('keeps its names: another request is refused, and the market is there', async () => {
    const { markets, listing, list } = open();
    await expect(markets.create({ ...input, question: 'other' })).rejects.toMatchObject(
      refusal('questionId', 'belongs to another market'),
    );
    await expect(markets.create({ question: 'q', slug: 'rain' })).rejects.toMatchObject(
      refusal('slug', 'belongs to another market'),
    );
    await listing.finish();
    expect((await list())[0]?.texts.question).toBe('q');
  });
});

test('a shard that is away holds up only its own markets, and is asked once', async () => {
  for (const [at, shard] of [1, 2, 1, 1].entries())
    await expect(
      open('create').markets.create({ question: `q${at}`, slug: `m${at}`, shard }),
    ).rejects.toThrow('died');
  let asked = 0;
  const directory = createDirectory({ redis, keys: first, count: 4 });
  const shards = keys.map((own, k) => {
    const engine = createEngine({ run, keys: own, grantMicro: micro(0), makersMax: 500 });
    const away = async () => {
      asked++;
      throw new Error('away');
    };
    return { keys: own, engine: k === 1 ? { createMarket: away } : engine };
  });
  await expect(createListing({ redis, run, directory, shards }).finish()).rejects.toThrow('away');
  const { list } = open();
  expect(await slugs(list)).toEqual(['m1']);
  expect(asked).toBe(1);
});
