import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startWeb, type Web } from '../../src/app/app';
import { type Environment, loadConfig } from '../../src/config/load';
import type { Side } from '../../src/exchange/match';
import type { OrderType } from '../../src/exchange/status';
import { lots, micro, pips } from '../../src/exchange/units';
import type { RunningRedis } from '../../src/local/redis';
import { createLogger } from '../../src/log';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { shardKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { createEngine } from '../../src/store/verbs/engine';
import { type Client, createClient } from '../support/client';
import { type Started, startScript, until } from '../support/processes';
import { startTestRedis } from '../support/redis';
import { openMarket } from '../support/trader';

export const ADMIN_TOKEN = 'admin-token-of-the-tests-0123456789';
const GRANT = '1000000';
const STOP_MS = 2_000;

/** A replica in this process, or in one of its own. */
export interface Replica {
  readonly url: string;
  readonly client: Client;
  stop(): Promise<void>;
}
export interface LocalReplica extends Replica {
  readonly web: Web;
}
export interface ChildReplica extends Replica {
  readonly started: Started;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export type Market = Awaited<ReturnType<typeof openMarket>>;
export type Stage = Awaited<ReturnType<typeof startStage>>;

/** A Redis that survives its restarts, an engine of the test's own on it, and as many replicas as are asked for. */
export async function startStage(env: Environment = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-realtime-'));
  const settings = [['dir', folder]] as const;
  let redis: RunningRedis = await startTestRedis({ appendonly: 'always', settings });
  const { url, port } = redis;
  const environment = {
    NODE_ENV: 'test',
    PORT: '0',
    REDIS_URL: url,
    PUBLIC_BASE_URL: 'https://exchange.test',
    JWT_SECRET: 'jwt-secret-of-the-tests-0123456789abcdef',
    ADMIN_TOKEN,
    RATE_LIMIT: 'off',
    PAPER_GRANT: GRANT,
    LOG_LEVEL: 'info',
    ...env,
  };
  const logged: string[] = [];
  const copies: string[] = [];
  const running = new Set<Replica>();
  const own = connect({ urls: [url] });
  await ready(own, 5_000);
  const engine = createEngine({
    run: createScripts(own),
    grantMicro: micro(Number(GRANT) * 1_000_000),
    makersMax: 500,
  });

  async function replica(more: Environment = {}): Promise<LocalReplica> {
    const config = loadConfig({ ...environment, ...more });
    const log = createLogger(config, 'web', { write: (line: string) => logged.push(line) });
    const web = await startWeb(config, log);
    const address = `http://127.0.0.1:${web.port}`;
    const one: LocalReplica = {
      web,
      url: address,
      client: createClient(address),
      stop: async () => {
        running.delete(one);
        await web.stop(STOP_MS);
      },
    };
    running.add(one);
    return one;
  }

  async function child(before: readonly string[] = []): Promise<ChildReplica> {
    const started = startScript("require('./src/web.ts')", environment as Record<string, string>, before);
    await until('web listens', () => /"port":\d+/.test(started.stdout()));
    const address = `http://127.0.0.1:${/"port":(\d+)/.exec(started.stdout())?.[1]}`;
    const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
      running.delete(one);
      started.child.kill(signal);
      await started.exited;
    };
    const one: ChildReplica = {
      started,
      url: address,
      client: createClient(address),
      kill: () => kill(),
      stop: () => kill('SIGTERM'),
    };
    running.add(one);
    return one;
  }

  return {
    engine,
    redis: own,
    keys: shardKeys(),
    logged,
    replica,
    child,
    market: (at: Replica): Promise<Market> => openMarket(at.client, ADMIN_TOKEN),
    /** What Redis has written so far, for `restartRedis`. */
    saved(): string {
      const copy = mkdtempSync(path.join(tmpdir(), 'exchange-realtime-'));
      copies.push(copy);
      cpSync(folder, copy, { recursive: true });
      return copy;
    },
    /** Kills Redis and starts it again with what it had written, now or when `saved`. */
    async restartRedis(awayMs = 0, saved?: string): Promise<void> {
      process.kill(redis.pid, 'SIGKILL');
      await redis.exited;
      if (saved) {
        for (const name of readdirSync(folder)) rmSync(path.join(folder, name), { recursive: true });
        cpSync(saved, folder, { recursive: true });
      }
      await wait(awayMs);
      redis = await startTestRedis({ appendonly: 'always', settings, port });
      await until('connected again', () => own.status === 'ready');
    },
    async stop(): Promise<void> {
      await Promise.all([...running].map((one) => one.stop()));
      disconnect(own);
      await redis.stop();
      for (const one of [folder, ...copies]) rmSync(one, { recursive: true, force: true });
    },
  };
}

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export interface Placed {
  readonly side?: Side;
  readonly outcome?: 0 | 1;
  readonly pips?: number;
  readonly lots?: number;
  readonly type?: OrderType;
  readonly maker?: string;
}

/** An order straight into the engine: nobody signed it. */
export async function place(stage: Stage, market: { id: string }, order: Placed = {}): Promise<string> {
  const orderHash = `0x${randomBytes(32).toString('hex')}`;
  await stage.engine.place({
    marketId: market.id,
    orderHash,
    maker: order.maker ?? `0x${'ab'.repeat(20)}`,
    order: {
      side: order.side ?? 0,
      outcome: order.outcome ?? 0,
      pricePips: pips(order.pips ?? 5_000),
      sizeLots: lots(order.lots ?? 100),
      budgetMicro: micro(0),
    },
    orderType: order.type ?? 'GTC',
    selfTradePrevention: 'NONE',
    expirationSec: 0,
    nonce: 0,
    feeRateBps: 0,
    lotLots: lots(1),
    deadlineMs: 0,
    clientOrderId: null,
    signed: Buffer.alloc(80),
    dryRun: false,
  });
  return orderHash;
}
