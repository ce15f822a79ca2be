import { Wallet } from 'ethers';
import { checkChannels } from '../../../../src/extensions/shards/store/check-channels';
import { addressBytes } from '../../../../src/store/records/order';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys } from '../../../../src/store/redis/keys';
import type { RedisClient } from '../../../../src/store/redis/scripts';
import { homeOf } from '../../../../src/store/redis/tags';
import { type Answer, type Client, createClient } from '../../../support/client';
import { portOf, type Started, startScript } from '../../../support/processes';
import { ADMIN_TOKEN, ENVIRONMENT } from '../../../support/settings';
import { tell } from '../../../support/telling';
import {
  createTrader,
  domainOf,
  type Limit,
  type Market,
  openMarket,
  type Trader,
} from '../../../support/trader';
import { READY_MS, until } from '../../../support/waiting';

/** The real programs on a cluster: a web process, a worker, and a market in each of four shards. */
export interface ClusterExchange {
  readonly client: Client;
  readonly web: Started;
  readonly worker: Started;
  /** Market k is in shard k. */
  readonly markets: readonly Market[];
  /** Starts another process of the exchange. */
  start(program: 'web' | 'worker'): Started;
  /** The test's own connection. */
  readonly redis: RedisClient;
  /** A wallet with this home. */
  trader(home: number): Trader;
  /** The differences that the audit of the exchange and that of the channels find. */
  differences(): Promise<string[]>;
  /** The worker's answer. */
  askWorker(path: '/metrics' | '/readyz'): Promise<Answer>;
  /** Until readiness names these shards as away, and no other. */
  untilDown(...shards: readonly number[]): Promise<void>;
  stop(): Promise<void>;
}

export const SHARDS = 4;
export const GRANT = 100;
export const KEYS = Array.from({ length: SHARDS }, (_, k) => createKeys(k));
/** With a master for each shard: the place of the shard's master in the order of slots (src/store/redis/tags.ts). */
export const MASTER_OF = [3, 1, 0, 2] as const;
const LAST_WORDS = 3_000;
const asAdmin = { token: ADMIN_TOKEN };

/** Reserves a number of units of collateral with an order that meets no other. */
export const holdOf = (units: number): Limit => ({ side: 'BUY', outcome: 0, pips: 5_000, lots: units * 200 });

export async function startClusterExchange(url: string): Promise<ClusterExchange> {
  const redis = connect({ urls: url.split(',') });
  await ready(redis, READY_MS);
  const env = { ...ENVIRONMENT, REDIS_URL: url, SHARDS: String(SHARDS), PAPER_GRANT: String(GRANT) };
  const start = (program: 'web' | 'worker'): Started =>
    startScript(`require('./src/${program}.ts')`, { ...env, METRICS_PORT: '0' });
  const web = start('web');
  const client = createClient(`http://127.0.0.1:${await portOf(web)}`);
  const worker = start('worker');
  const stop = async (): Promise<void> => {
    for (const { child, stdout, stderr } of [web, worker]) {
      // No fault of a test here ends a process of the exchange.
      const isGone = child.exitCode !== null || child.signalCode !== null;
      if (isGone) tell(`ended by itself: ${stdout().slice(-LAST_WORDS)}${stderr()}`);
      child.kill('SIGKILL');
    }
    await Promise.all([web.exited, worker.exited]);
    disconnect(redis);
  };
  try {
    const domain = await domainOf(client);
    const markets: Market[] = [];
    for (let shard = 0; shard < SHARDS; shard++)
      markets.push(await openMarket(client, ADMIN_TOKEN, { shard }));
    await until('the worker runs', () => worker.stdout().includes('worker is running'), {
      explain: () => worker.stdout() + worker.stderr(),
    });
    const trader = (home: number): Trader => createTrader(client, domain, walletAt(home));
    const port = /"metricsPort":(\d+)/.exec(worker.stdout())?.[1];
    const askWorker: ClusterExchange['askWorker'] = createClient(`http://127.0.0.1:${port}`).get;
    return {
      client,
      web,
      worker,
      start,
      markets,
      redis,
      trader,
      askWorker,
      stop,
      ...lookedAt(client, redis),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function lookedAt(client: Client, redis: RedisClient): Pick<ClusterExchange, 'differences' | 'untilDown'> {
  return {
    async differences() {
      const audit = await client.get('/admin/audit', asAdmin);
      if (audit.status !== 200) return [audit.text];
      // A client that has not been asked since a master died learns it from its first command.
      const between = await checkChannels({ redis, shards: KEYS }).catch((error: Error) => error);
      if (between instanceof Error) return [between.message];
      const found: object[] = [...audit.body.differences, ...between.differences];
      return [...new Set(found.map((one) => JSON.stringify(one)))];
    },
    untilDown: (...shards) =>
      until(`away are ${shards.join() || 'none'}`, async () => {
        const { status, body } = await client.get('/readyz');
        const down = Object.entries(body.shards ?? {}).filter(([, is]) => is === 'down');
        return status === 200 && down.map(([k]) => Number(k)).join() === shards.join();
      }),
  };
}

/** A new wallet with this home among four shards. */
export function walletAt(home: number): Wallet {
  for (;;) {
    const wallet = new Wallet(Wallet.createRandom().privateKey);
    if (homeOf(addressBytes(wallet.address.toLowerCase()), SHARDS) === home) return wallet;
  }
}

/** An order of a wallet that was sent, and its last answer. */
export interface Sent {
  readonly trader: Trader;
  readonly market: Market;
  readonly order: unknown;
  answer: Answer;
}

export async function send(client: Client, trader: Trader, market: Market, limit: Limit): Promise<Sent> {
  const order = await trader.order(market, limit);
  return { trader, market, order, answer: await post(client, market, order) };
}

export const post = (client: Client, market: Market, order: unknown): Promise<Answer> =>
  client.post(`/markets/${market.id}/orders`, { body: { order } });

/** Sends an order again until its answer is no 503. An order runs once, however often it is sent. */
export async function settled(client: Client, sent: Sent): Promise<Answer> {
  const isAnswered = async (): Promise<boolean> => {
    if (sent.answer.status === 503) sent.answer = await post(client, sent.market, sent.order);
    return sent.answer.status !== 503;
  };
  await until('the order is answered', isAnswered, { explain: () => sent.answer.text });
  return sent.answer;
}
