import type { Market } from '../../src/exchange/facts';
import { createJournal } from '../../src/extensions/portfolio/store/journal';
import { unpackEntry } from '../../src/extensions/portfolio/store/records';
import { createSettle } from '../../src/jobs/settle';
import { createCandleWriter } from '../../src/store/candles/writer';
import type { MatchRef } from '../../src/store/records/settlement';
import type { RunScript } from '../../src/store/redis/scripts';
import { createMatches } from '../../src/store/settlement/matches';
import { createSettlements } from '../../src/store/settlement/settlements';
import { type Settling, scale, startSettling } from '../jobs/settling';
import { type DurableRedis, startDurableRedis } from '../support/durable-redis';
import { type Proxy as Link, startProxy } from '../support/proxy';

/**
 * A writer reads from the master, the master dies with its last match, and the writer writes to the promoted replica, which
 * has the same marks. The data that it read was never on that Redis.
 */
interface Stage {
  readonly world: Settling;
  readonly market: Market;
  /** The match that exists only on the master. */
  readonly lost: MatchRef;
  /** Runs scripts as a late writer: the failover comes between its read and this script. */
  before(script: string): RunScript;
  failOver(): Promise<void>;
}

const refOf = ({ record }: Awaited<ReturnType<Settling['match']>>): MatchRef => ({
  marketId: record.marketId,
  tradeMs: record.fillMs,
  sequence: record.sequence,
});

async function onFailover(story: (stage: Stage) => Promise<void>): Promise<void> {
  const opened: (DurableRedis | Link)[] = [];
  const open = async <T extends DurableRedis | Link>(one: Promise<T>): Promise<T> => {
    const started = await one;
    opened.unshift(started);
    return started;
  };
  let world: Settling | null = null;
  try {
    const master = await open(startDurableRedis({ appendonly: 'always' }));
    const replica = await open(startDurableRedis({ appendonly: 'always' }));
    const proxy = await open(startProxy(master.port));
    world = await startSettling({ url: `redis://127.0.0.1:${proxy.port}`, stop: async () => undefined });
    const market = await world.createMarket();
    await world.match(market);
    await createJournal(world).catchUp();
    await replica.ask(`REPLICAOF 127.0.0.1 ${master.port}`);
    await master.copied();
    await replica.ask('REPLICAOF NO ONE');
    const lost = refOf(await world.match(market));
    const failOver = async (): Promise<void> => {
      await master.kill();
      proxy.retarget(replica.port);
      proxy.cut();
    };
    const { run } = world;
    const before =
      (script: string): RunScript =>
      async (name, keys, args) => {
        if (name === script) await failOver();
        return run(name, keys, args);
      };
    await story({ world, market, lost, before, failOver });
  } finally {
    await world?.stop();
    for (const one of opened) await one.stop();
  }
}

test('a journal that read before a failover books nothing that was lost, and then everything that exists', () =>
  onFailover(async ({ world, market, before }) => {
    const { redis, keys } = world;
    const booked = async (): Promise<number> => {
      const lists = await redis.keysBuffer('{x0}:ac:*');
      const lines = await Promise.all(lists.map((list) => redis.lrangeBuffer(list, 0, -1)));
      const trades = lines.flat().filter((line) => unpackEntry(line).type === 'TRADE');
      return new Set(trades.map((line) => line.toString('hex'))).size;
    };
    const late = createJournal({ ...world, run: before('write_journal') });
    expect(await late.extend()).toBe(true);
    expect(await booked()).toBe(1);
    await world.match(market);
    await createJournal(world).catchUp();
    expect([await booked(), await redis.xlen(keys.trades(market.terms.id))]).toEqual([2, 2]);
  }));

test('candles that were counted before a failover are not stored after it', () =>
  onFailover(async ({ world, market, before }) => {
    const { redis, keys } = world;
    const late = createCandleWriter({ redis, keys, run: before('write_candles') });
    expect(await late.extend(market.terms.id)).toBe(true);
    expect(await redis.hlen(keys.candleMarks)).toBe(0);
    await createCandleWriter(world).extend(market.terms.id);
    expect(await redis.xlen(keys.trades(market.terms.id))).toBe(1);
    expect(await redis.hlen(keys.candleMarks)).toBe(1);
  }));

const termsOf =
  ({ terms }: Market) =>
  async () =>
    terms;

test('a settlement of a lost match is not recorded, but one of the match that gets its number is', () =>
  onFailover(async ({ world, market, lost, before }) => {
    const { redis, keys } = world;
    const settlements = createSettlements({ redis, keys, run: before('record_settlements') });
    const late = createSettle({ ...world, settlements, termsOf: termsOf(market), scale });
    expect(await late([lost])).toEqual([]);
    expect(await redis.hlen(keys.settlements)).toBe(0);
    const found = refOf(await world.match(market));
    expect(found.sequence).toBe(lost.sequence);
    expect(await createSettle({ ...world, termsOf: termsOf(market), scale })([found])).toEqual([]);
    expect(await redis.hlen(keys.settlements)).toBe(1);
  }));

test('a reconciler that walked before a failover marks nothing as final after it', () =>
  onFailover(async ({ world, market, lost, before }) => {
    const { redis, keys, settlements, matches } = world;
    const settle = createSettle({ ...world, termsOf: termsOf(market), scale });
    const bounds = { nowMs: Date.now() + 1, graceMs: 0, patienceMs: 0, most: 100 };
    await settle(await matches.unsettled(market.terms.id, bounds));
    const late = createMatches({ redis, keys, settlements, run: before('mark_settled') });
    expect(await late.unsettled(market.terms.id, bounds)).toEqual([]);
    const mark = await redis.hget(keys.settledUpTo, market.terms.id);
    expect(mark).not.toBe(`${lost.tradeMs}-${lost.sequence}`);
    expect(await matches.unsettled(market.terms.id, bounds)).toHaveLength(1);
  }));
