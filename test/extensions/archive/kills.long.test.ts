import { createHash } from 'node:crypto';
import { chainScale } from '../../../src/exchange/order';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import { createArchivedReads } from '../../../src/extensions/archive/store/archived-reads';
import { verifyArchive } from '../../../src/extensions/archive/verify/verify';
import { scriptSources } from '../../../src/store/redis/scripts';
import { createAudit } from '../../support/audit';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { type Started, startScript } from '../../support/processes';
import { type Proxy as NetworkProxy, startProxy } from '../../support/proxy';
import { ENVIRONMENT } from '../../support/settings';
import { stopAll } from '../../support/stopping';
import { tell } from '../../support/telling';
import { until } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';
import { createTwins, type Twins } from './twins';

/**
 * Worker, PostgreSQL and Redis are killed with -9 between every two steps of archiving, while the exchange trades. Then the archive
 * has every order that was accepted, and the exchange answers as one without an archive that received the same orders.
 * TEST_KILLS makes it longer; 15 kill each of the three in each place.
 */
const KILLS = Number(process.env.TEST_KILLS ?? 6);
const WALLETS = 50;
const LIMIT_MS = 1_200_000;
/** An order stays in Redis for a minute; a worker waits ten seconds for the lease of a dead one. */
const PATIENCE_MS = 240_000;
const PLACES = ['begin', 'commit', 'forget_matches', 'forget_orders', 'forget_lines'] as const;
type Place = (typeof PLACES)[number];
const VICTIMS = ['worker', 'PostgreSQL', 'Redis'] as const;

describeWithPostgres('an exchange whose processes die while it archives', () => {
  let postgres: TestPostgres;
  let exchange: WebReplicas;
  let plain: WebReplicas;
  let [toRedis, toPostgres]: (NetworkProxy | undefined)[] = [];
  let archive: Archive;
  let twins: Twins;
  const workers: Started[] = [];

  beforeAll(async () => {
    postgres = await startTestPostgres();
    exchange = await startWebReplicas({ env: { ARCHIVE_URL: postgres.url }, durable: true });
    plain = await startWebReplicas();
    toRedis = await startProxy(exchange.redis.port);
    toPostgres = await startProxy(Number(new URL(postgres.url).port));
    archive = createArchive({ url: postgres.url });
    twins = await createTwins(exchange, plain, WALLETS);
  }, LIMIT_MS);
  afterAll(async () => {
    for (const { child } of workers) child.kill('SIGKILL');
    await Promise.all(workers.map(({ exited }) => exited));
    await stopAll(
      async () => archive?.close(),
      async () => exchange?.stop(),
      async () => plain?.stop(),
      async () => toRedis?.stop(),
      async () => toPostgres?.stop(),
      async () => postgres?.stop(),
    );
  });

  function startWorker(redisUrl: string, more: Record<string, string> = {}): Started {
    const worker = startScript("require('./src/worker.ts')", {
      ...ENVIRONMENT,
      ...more,
      REDIS_URL: redisUrl,
    } as Record<string, string>);
    workers.push(worker);
    return worker;
  }
  /** Its ways to both stores lead through the proxies. */
  function startArchiving(): Started {
    const url = new URL(postgres.url);
    url.port = String(toPostgres?.port);
    return startWorker(`redis://127.0.0.1:${toRedis?.port}`, { ARCHIVE_URL: url.href });
  }

  /** The texts by which the proxy knows the step after which no reply passes. */
  async function stopAfter(place: Place): Promise<NetworkProxy> {
    const isOfPostgres = place === 'begin' || place === 'commit';
    const proxy = (isOfPostgres ? toPostgres : toRedis) as NetworkProxy;
    const texts = {
      begin: 'update archive_state set batch = $1 where batch = $1 - 1',
      commit: 'commit\0',
    };
    if (isOfPostgres) proxy.holdRepliesFrom([Buffer.from(texts[place])]);
    else proxy.holdRepliesFrom([Buffer.from(await known(place))]);
    return proxy;
  }
  /** Redis knows the script, so that the first call of it runs. */
  const known = async (script: string): Promise<string> => {
    const source = scriptSources().get(script) ?? '';
    await exchange.store.redis.call('SCRIPT', 'LOAD', source);
    return createHash('sha1').update(source).digest('hex');
  };

  test(
    `${KILLS} kills between the steps lose nothing and leave nothing twice`,
    async () => {
      startWorker(plain.redis.url);
      let worker = startArchiving();
      const trading = twins.trade();
      for (let kill = 0; kill < KILLS; kill++) {
        const place = PLACES[kill % PLACES.length] ?? 'commit';
        const victim = VICTIMS[kill % VICTIMS.length];
        const proxy = await stopAfter(place);
        await until(`the worker is behind ${place}`, () => proxy.isHolding(), {
          patienceMs: PATIENCE_MS,
          explain: () => worker.stdout().slice(-3_000) + worker.stderr(),
        });
        if (victim === 'worker') {
          worker.child.kill('SIGKILL');
          await worker.exited;
        } else if (victim === 'PostgreSQL') await postgres.kill();
        else await exchange.redis.kill();
        proxy.heal();
        if (victim === 'worker') worker = startArchiving();
        else if (victim === 'PostgreSQL') await postgres.revive();
        else {
          await exchange.redis.revive();
          await until('the test is connected again', () => exchange.store.redis.status === 'ready');
        }
        tell(`${victim} killed behind ${place}`);
      }
      const accepted = await trading.stop();
      await twins.repeat();
      await twins.compare();

      const { redis, run, keys } = exchange.store;
      const left = async () => [
        await redis.hlen(keys.orders),
        await redis.xlen(keys.trades(twins.marketId)),
        await redis.hlen(keys.settlements),
      ];
      await until('everything has left', async () => (await left()).every((count) => count === 0), {
        patienceMs: PATIENCE_MS,
        explain: () => worker.stdout().slice(-3_000) + worker.stderr(),
      });
      const { orders, matches, settlements } = await archive.size();
      const other = plain.store;
      expect({ orders, matches, settlements }).toEqual({
        orders: accepted,
        matches: await other.redis.xlen(other.keys.trades(twins.twinId)),
        settlements: await other.redis.hlen(other.keys.settlements),
      });
      const scale = chainScale(18);
      const { problems } = await verifyArchive({ redis, keys, archive, scale });
      expect(problems).toEqual([]);
      const archivedReads = createArchivedReads({ redis, keys, archive });
      const audit = createAudit({ redis, run, keys, scale, archivedReads });
      expect((await audit()).differences).toEqual([]);
      await twins.compare();
      tell(`${orders} orders, ${matches} matches, ${settlements} settlements in the archive`);
    },
    LIMIT_MS,
  );
});
