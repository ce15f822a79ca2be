import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { Wallet } from 'ethers';
import { type Demo, startDemo } from '../../src/demo/demo';
import { demoMarkets, openDemoMarkets } from '../../src/demo/markets';
import { type Client, createClient } from '../support/client';
import { portOf, ROOT, type Started, startNode, startProgram } from '../support/processes';
import { startProxy } from '../support/proxy';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { tell } from '../support/telling';
import { createTrader, domainOf, type OpenMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';
import { limit } from '../support/weather-market';
import { startWebReplicas } from '../support/web-replicas';

const { isStale } = require('../../scripts/build.js') as { isStale(): boolean };

export const PYTHON = '/usr/bin/python3';
export const PACKAGE = path.join(ROOT, 'clients/python');
/** Debian's packages are for Debian's Python. */
export const hasPython =
  spawnSync(PYTHON, ['-c', 'import httpx, socketio, websocket, ecdsa, Cryptodome']).status === 0;

/** The quotes that the maker keeps: two levels of two outcomes. */
const QUOTES = 4;
const BACK_MS_MAX = 180_000;
/** The other web process serves meanwhile. */
const START_MS_MAX = 90_000;

/** A line of the maker. */
interface Said {
  readonly at: number;
  readonly resting?: number;
  readonly sequence?: number | null;
  readonly checksum?: string;
  readonly book?: string;
  readonly refused?: string;
  readonly orders?: Readonly<Record<string, string>>;
  readonly faults?: Readonly<Record<string, number>>;
  readonly connections?: number;
}

interface RunningWeb {
  readonly started: Started;
  readonly port: number;
  readonly client: Client;
}

/** As `npm start` has them. */
async function startBots(url: string): Promise<Demo> {
  await openDemoMarkets(url, ADMIN_TOKEN, demoMarkets(new Date()));
  const demo = await startDemo({ baseUrl: url, say: () => undefined });
  // A bot that meets a bug ends; the story is the maker's.
  demo.failed.catch((error: Error) => tell(`a bot of the demo ended: ${error.message}`));
  return demo;
}

export type MakerStory = Awaited<ReturnType<typeof startMakerStory>>;

/**
 * The Python maker behind a load balancer with two web processes, and a taker that trades with it. With the demo, its bots
 * trade in other markets of the same exchange.
 */
export async function startMakerStory({ withDemo = false } = {}) {
  if (isStale()) throw new Error('dist is older than the sources: npm run build');
  const exchange = await startWebReplicas({ replicas: 0, durable: true });
  /** The built program: it is back in a second or two. */
  async function startWeb(): Promise<RunningWeb> {
    const more = { REDIS_URL: exchange.redis.url, PORT: '0', GRANT_ON: 'first-order' };
    const started = startNode(['dist/web.js'], { ...ENVIRONMENT, ...more });
    const listens = (): boolean => /"port":\d+/.test(started.stdout());
    await until('a new web process listens', listens, { patienceMs: START_MS_MAX, explain: started.stderr });
    const port = Number(await portOf(started));
    return { started, port, client: createClient(`http://127.0.0.1:${port}`) };
  }
  const webs: RunningWeb[] = [await startWeb(), await startWeb()];
  const first = (): RunningWeb => webs[0] as RunningWeb;
  const balancer = await startProxy(first().port);
  const url = `http://127.0.0.1:${balancer.port}`;
  const demo = withDemo ? await startBots(url) : null;
  const market: OpenMarket = await exchange.market(first());
  const domain = await domainOf(first().client);
  const key = `0x${randomBytes(32).toString('hex')}`;
  const env = {
    PYTHONPATH: PACKAGE,
    PRIVATE_KEY: key,
    PYTHONUNBUFFERED: '1',
    BASE_URL: url,
  };
  const program = path.join(PACKAGE, 'examples/market_maker.py');
  const maker: Started = startProgram(PYTHON, [program, market.id, '0.5'], env);

  const lines: Said[] = [];
  let readTo = 0;
  /** Each line is read once: an hour has many. */
  function said(): readonly Said[] {
    const text = maker.stdout();
    const end = Math.max(readTo, text.lastIndexOf('\n') + 1);
    for (const line of text.slice(readTo, end).split('\n')) {
      if (line.endsWith('}')) lines.push(JSON.parse(line));
    }
    readTo = end;
    return lines;
  }

  /** How long it took until all quotes rest again, with a book that is in step. */
  async function quotesAfter(sinceMs: number, what: string): Promise<number> {
    let backMs = 0;
    const isBack = (): boolean => {
      let book = '';
      for (const line of said()) {
        book = line.book ?? book;
        if (line.at * 1_000 > sinceMs && line.resting === QUOTES && book === 'live') {
          backMs = line.at * 1_000 - sinceMs;
          return true;
        }
      }
      return false;
    };
    await until(what, isBack, {
      patienceMs: BACK_MS_MAX,
      explain: () => maker.stdout().slice(-2_000) + maker.stderr(),
    });
    return backMs;
  }

  /** Kills the web process that serves; the balancer notices and uses the other, and a new one is started. */
  async function killWeb(): Promise<number> {
    const [dead, other] = webs as [RunningWeb, RunningWeb];
    const atMs = Date.now();
    balancer.retarget(other.port);
    dead.started.child.kill('SIGKILL');
    await dead.started.exited;
    balancer.cut();
    const backMs = await quotesAfter(atMs, 'the quotes rest again after a web process was killed');
    webs.shift();
    webs.push(await startWeb());
    return backMs;
  }

  async function restartRedis(): Promise<number> {
    await exchange.restartRedis();
    return quotesAfter(Date.now(), 'the quotes rest again after Redis was restarted');
  }

  const taker = (): Trader => createTrader(createClient(url), domain);
  /** Sells nothing it has not: it buys the other side of what the maker bids. */
  async function take(trader: Trader, outcome: 0 | 1): Promise<void> {
    await trader.submit(market, limit('BUY', outcome, 5_300, 500), { orderType: 'IOC' });
  }

  /** By sequence: the checksum of the book that the exchange answered. */
  const checksums = new Map<number, string>();
  async function look(): Promise<void> {
    const answer = await first()
      .client.get(`/markets/${market.id}/orderbook`)
      .catch(() => null);
    if (answer?.status === 200) checksums.set(answer.body.sequence, answer.body.checksum);
  }
  /** The books of the maker that were compared with the exchange's, and those that differed. */
  function compared(): { compared: number; differed: number } {
    const both = said().filter(({ sequence, checksum }) => checksum && checksums.has(sequence ?? -1));
    const differed = both.filter(({ sequence, checksum }) => checksums.get(sequence ?? -1) !== checksum);
    return { compared: both.length, differed: differed.length };
  }

  /** The maker is stopped; then every order that it sent is looked up, and every one that the exchange has of it. */
  async function audit() {
    maker.child.kill('SIGTERM');
    await maker.exited;
    const last = said().at(-1) as Said;
    const known = { ...last.orders };
    const owner = createTrader(first().client, domain, new Wallet(key));
    const wrong: string[] = [];
    const missing: string[] = [];
    let booked = 0;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await owner.get(`/me/orders?limit=100${cursor ? `&cursor=${cursor}` : ''}`);
      for (const { orderHash, status } of body.data) {
        booked++;
        if (!(orderHash in known)) missing.push(orderHash);
        else if (known[orderHash] !== status)
          wrong.push(`${orderHash} is ${status}, not ${known[orderHash]}`);
        delete known[orderHash];
      }
      cursor = body.nextCursor;
    }
    // Whatever the exchange does not have was refused, or never arrived.
    for (const [hash, status] of Object.entries(known)) {
      if (status !== 'REFUSED') wrong.push(`${hash} is unknown, not ${status}`);
    }
    return { booked, sent: Object.keys(last.orders ?? {}).length, wrong, missing, last };
  }

  return {
    url,
    market,
    openMarket: (): Promise<OpenMarket> => exchange.market(first()),
    quotesAfter,
    killWeb,
    restartRedis,
    taker,
    take,
    look,
    compared,
    audit,
    stop: async (): Promise<void> => {
      await demo?.stop();
      maker.child.kill('SIGKILL');
      for (const { started } of webs) started.child.kill('SIGKILL');
      await balancer.stop();
      await exchange.stop();
    },
  };
}
