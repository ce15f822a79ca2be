import { connect, disconnect, ready } from '../../src/store/redis/connection';
import type { RedisClient } from '../../src/store/redis/scripts';
import { type Client, patiently } from '../support/client';
import { type DurableRedis, startDurableRedis } from '../support/durable-redis';
import { startProxy } from '../support/proxy';
import { createRandom } from '../support/random';
import { areInformed, PRIMARY_NAME, startSentinels } from '../support/sentinels';
import { ADMIN_TOKEN } from '../support/settings';
import { stopAll } from '../support/stopping';
import { hasWaitaof, NEEDS_WAITAOF } from '../support/store-version';
import { tell } from '../support/telling';
import { createTrader, domainOf, openMarket } from '../support/trader';
import { READY_MS, sleep, until } from '../support/waiting';
import { startReplica } from '../support/web-replicas';
import { BACK_MS } from './asking';
import { expectRest, follow } from './followers';
import { violationsOf } from './invariants';
import { startLoad } from './load';
import { startSeats } from './seats';
import { openTrading } from './trading-fleet';

/** DURABILITY=replicated, with counts. docs/run/faults.md has figures of larger ones. */
const FAILOVERS = Number(process.env.FAULT_FAILOVERS ?? 2);
const ORDERS = Number(process.env.FAULT_ORDERS ?? 300);
const ISOLATED_MS = Number(process.env.FAULT_ISOLATED_MS ?? 3_000);
const LIMIT_MS = 300_000 + FAILOVERS * 60_000 + ORDERS * 20 + ISOLATED_MS;
const LANES = 8;
/** Some thousand orders for each minute of failovers. */
const PAUSE_MS = 50;
const LOOK_EVERY_MS = 20;
const BID = { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 } as const;

const withWaitaof = hasWaitaof ? test : test.skip;

const startNodes = (count: number): Promise<DurableRedis[]> =>
  Promise.all(Array.from({ length: count }, () => startDurableRedis({ appendonly: 'always' })));

/** A replica that has received all data confirms nothing before it has written it to its own file. */
const FOLLOWING = ['master_link_status:up', 'aof_rewrite_in_progress:0', 'aof_rewrite_scheduled:0'];

async function follows(replica: DurableRedis, primary: DurableRedis): Promise<void> {
  await replica.ask(`REPLICAOF 127.0.0.1 ${primary.port}`);
  await until('the replica follows', async () => {
    const info = await replica.ask('INFO');
    return FOLLOWING.every((line) => info.includes(line));
  });
}

const epochOf = async (client: Client): Promise<string> =>
  (await patiently(() => client.get('/readyz'))).body.epoch;

withWaitaof(
  `${NEEDS_WAITAOF} a primary that is cut off answers and shows nothing, and every connection leaves it for the one that was promoted`,
  async () => {
    const [first, second, third] = (await startNodes(3)) as [DurableRedis, DurableRedis, DurableRedis];
    const name = await startProxy(first.port);
    await follows(second, first);
    const web = await startReplica({
      REDIS_URL: `redis://127.0.0.1:${name.port}`,
      DURABILITY: 'replicated',
      RATE_LIMIT: 'off',
    });
    try {
      const { client } = web;
      const market = await openMarket(client, ADMIN_TOKEN);
      const alice = createTrader(client, await domainOf(client));
      // A busy machine may be late, and the exchange answers 503 then.
      const booked = (what: string, pips: number) =>
        until(what, async () => (await alice.submit(market, { ...BID, pips })).status === 200);
      const bookOf = () => patiently(() => client.get(`/markets/${market.id}/orderbook`));
      await booked('an order is booked', BID.pips);
      expect((await patiently(() => client.get('/readyz'))).body).toMatchObject({
        durability: 'replicated',
        replicaLagBytes: expect.any(Number),
      });
      const epoch = await epochOf(client);
      const book = (await bookOf()).body;

      // The replica does not answer, so the primary is alone.
      process.kill(second.pid, 'SIGSTOP');
      const statuses = new Set<number>();
      let asked = 0;
      for (const untilMs = performance.now() + ISOLATED_MS; performance.now() < untilMs; asked++) {
        const [order, seen] = await Promise.all([
          alice.submit(market, BID),
          client.get(`/markets/${market.id}/orderbook`),
        ]);
        statuses.add(order.status).add(seen.status);
      }
      expect([...statuses]).toEqual([503]);
      expect((await client.get('/readyz')).body.detail).toMatch(/^Too few replicas have confirmed|^Redis/);
      tell(
        `${asked} orders and as many reads in ${ISOLATED_MS} ms at a primary without its replica: 0 answered`,
      );

      // The former primary lives on, and no connection is cut.
      process.kill(second.pid, 'SIGCONT');
      await second.ask('REPLICAOF NO ONE');
      await follows(third, second);
      name.retarget(second.port);
      await booked('orders are booked again', 3_000);
      expect(await epochOf(client)).toBe(epoch);
      expect((await bookOf()).body.sequence).toBeGreaterThan(book.sequence);
      let left: string[] = [];
      await until(
        'nothing stays with the former primary',
        async () => {
          const all = (await first.ask('CLIENT LIST')).split('\n').filter((line) => line.startsWith('id='));
          left = all.filter((line) => !/ cmd=client| flags=S /.test(line));
          return left.length === 0;
        },
        { explain: () => left.join('\n') },
      );
    } finally {
      await stopAll(web.stop, name.stop, ...[first, second, third].map((node) => node.stop));
    }
  },
  LIMIT_MS,
);

interface Failovers {
  readonly url: string;
  /** Kills the primary; resolves with it and the one that has taken its place. */
  failOver(): Promise<readonly [killed: DurableRedis, promoted: DurableRedis]>;
  stop(): Promise<void>;
}

/** Three Sentinels, which promote any replica. */
async function bySentinels(nodes: readonly DurableRedis[]): Promise<Failovers> {
  const replicas = nodes.length - 1;
  const sentinels = await startSentinels(nodes[0]?.port ?? 0);
  const all = sentinels.ports.map((port) => connect({ urls: [`redis://127.0.0.1:${port}`] }));
  await Promise.all(all.map((one) => ready(one, READY_MS)));
  const [sentinel] = all as [RedisClient, ...RedisClient[]];
  const hosts = sentinels.ports.map((port) => `127.0.0.1:${port}`).join(',');
  return {
    url: `redis+sentinel://${hosts}/${PRIMARY_NAME}`,
    async failOver() {
      await until('the Sentinels know the replicas', () => areInformed(all, replicas));
      const primary = await primaryOf(sentinel, nodes);
      await primary.kill();
      await until('another one is the primary', async () => (await primaryOf(sentinel, nodes)) !== primary);
      return [primary, await primaryOf(sentinel, nodes)];
    },
    async stop() {
      for (const one of all) disconnect(one);
      await sentinels.stop();
    },
  };
}

/** The offset of a replica that has lost its primary: until then it may still be reading what it has received. */
async function lastOffsetOf(replica: DurableRedis): Promise<number> {
  let info = '';
  await until('the replica has lost its primary', async () => {
    info = await replica.ask('INFO replication');
    return info.includes('master_link_status:down');
  });
  return Number(/^slave_repl_offset:(\d+)/m.exec(info)?.[1]);
}

/** A name that moves to the replica with the larger offset. */
async function byName(nodes: readonly DurableRedis[]): Promise<Failovers> {
  let [primary, ...replicas] = nodes as [DurableRedis, ...DurableRedis[]];
  const name = await startProxy(primary.port);
  return {
    url: `redis://127.0.0.1:${name.port}`,
    async failOver() {
      const killed = primary;
      await killed.kill();
      const offsets = await Promise.all(replicas.map(lastOffsetOf));
      const promoted = replicas[offsets.indexOf(Math.max(...offsets))] as DurableRedis;
      await promoted.ask('REPLICAOF NO ONE');
      for (const other of replicas) if (other !== promoted) await follows(other, promoted);
      replicas = [...replicas.filter((other) => other !== promoted), killed];
      primary = promoted;
      name.retarget(promoted.port);
      return [killed, promoted];
    },
    stop: () => name.stop(),
  };
}

interface Scene {
  readonly replicas: number;
  /** REDIS_REPLICAS. */
  readonly confirming: number;
  readonly start: (nodes: readonly DurableRedis[]) => Promise<Failovers>;
}

async function losesNothing({ replicas, confirming, start }: Scene): Promise<void> {
  const nodes = await startNodes(1 + replicas);
  const [first, ...others] = nodes as [DurableRedis, ...DurableRedis[]];
  for (const other of others) await follows(other, first);
  const { url, failOver, stop } = await start(nodes);
  const env = { DURABILITY: 'replicated', REDIS_REPLICAS: `${confirming}`, RATE_LIMIT: 'off' };
  const seats = await startSeats({ webs: 1, workers: 1, env }, () => url);
  try {
    const stage = await openTrading(seats, { seed: 'failovers' });
    const { journal, markets, people, client } = stage;
    const epoch = await epochOf(client());
    const followers = markets.map(({ conditionId }) => follow(client().url, conditionId));
    const shown = new Map(markets.map(({ id }) => [id, new Set<string>()]));
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        for (const [id, trades] of shown) {
          const { status, body } = await client().get(`/markets/${id}/trades?limit=100`);
          if (status === 200) for (const trade of body.data) trades.add(trade.id);
        }
        await sleep(LOOK_EVERY_MS);
      }
    })();
    const most = Number.POSITIVE_INFINITY;
    const random = createRandom(39);
    const load = startLoad(journal, {
      random,
      markets,
      people,
      client,
      lanes: LANES,
      most,
      pauseMs: PAUSE_MS,
    });
    const acknowledged = (): number => journal.submissions.filter((one) => one.accepted.length > 0).length;
    const backMs: number[] = [];
    for (let i = 1; i <= FAILOVERS; i++) {
      const share = (ORDERS * i) / (FAILOVERS + 1);
      await until('orders between failovers', () => acknowledged() > share, { patienceMs: LIMIT_MS });
      const [killed, promoted] = await failOver();
      const promotedAtMs = performance.now();
      const before = acknowledged();
      const back = until('orders are booked again', () => acknowledged() > before).then(() =>
        backMs.push(performance.now() - promotedAtMs),
      );
      await killed.revive();
      await follows(killed, promoted);
      await back;
    }
    await until('all acknowledged', () => acknowledged() >= ORDERS, { patienceMs: LIMIT_MS });
    await load.stop();
    isOver = true;
    await watching;
    const evidence = await stage.evidence();
    const violations = violationsOf(evidence);
    const gone = evidence.markets.flatMap(({ id, trades }) => {
      const kept = new Set(trades.map((trade) => trade.id));
      return [...(shown.get(id) ?? [])].filter((trade) => !kept.has(trade));
    });
    const seen = [...shown.values()].reduce((sum, { size }) => sum + size, 0);
    const [median, slowest] = [[...backMs].sort((a, b) => a - b)[backMs.length >> 1], Math.max(...backMs)];
    tell(
      `${FAILOVERS} failovers, ${replicas} replicas of which ${confirming} confirm: ${acknowledged()} orders acknowledged, ` +
        `${violations.length} violations, ${gone.length} of ${seen} fills gone; orders again ${median?.toFixed()} ms (median) and ` +
        `${slowest.toFixed()} ms (most) after the promotion`,
    );
    expect(violations.slice(0, 20)).toEqual([]);
    expect(journal.wrong).toEqual([]);
    expect(gone).toEqual([]);
    expect(seen).toBeGreaterThan(0);
    for (const [i, { id }] of markets.entries())
      await expectRest(client(), id, followers[i] as (typeof followers)[number]);
    for (const one of followers) one.stop();
    expect(followers.flatMap(({ wrong }) => wrong)).toEqual([]);
    expect(followers.every(({ updates }) => updates() > 0)).toBe(true);
    expect(await epochOf(client())).toBe(epoch);
    expect(slowest).toBeLessThan(BACK_MS);
  } finally {
    await stopAll(seats.stop, stop, ...nodes.map((node) => node.stop));
  }
}

withWaitaof(
  `${NEEDS_WAITAOF} no acknowledged order and no fill is lost in failovers to the only replica, by Sentinels, and the epoch stays`,
  () => losesNothing({ replicas: 1, confirming: 1, start: bySentinels }),
  LIMIT_MS,
);

withWaitaof(
  `${NEEDS_WAITAOF} nor in failovers by Sentinels to any of two replicas that both confirm`,
  () => losesNothing({ replicas: 2, confirming: 2, start: bySentinels }),
  LIMIT_MS,
);

withWaitaof(
  `${NEEDS_WAITAOF} nor behind a name that moves to the one of two replicas with the larger offset, when one confirms`,
  () => losesNothing({ replicas: 2, confirming: 1, start: byName }),
  LIMIT_MS,
);

async function primaryOf(sentinel: RedisClient, nodes: readonly DurableRedis[]): Promise<DurableRedis> {
  const [, port] = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', PRIMARY_NAME)) as string[];
  const node = nodes.find((one) => String(one.port) === port);
  if (!node) throw new Error(`no server listens at ${port}`);
  return node;
}
