import { checksumAddress } from '../../src/auth/address';
import { createOrderVerifier } from '../../src/auth/order-signature';
import { createSessions, type Sessions } from '../../src/auth/sessions';
import { createSignIn } from '../../src/auth/siwe';
import { createTokens } from '../../src/auth/tokens';
import { binaryMarketIds } from '../../src/chain/ctf';
import { type Config, type Environment, loadConfig } from '../../src/config';
import { chainScale } from '../../src/exchange/order';
import { createHttp, type Http } from '../../src/http/server';
import type { RunningRedis } from '../../src/local/redis';
import { createLogger } from '../../src/log';
import { createClock } from '../../src/store/clock';
import { connect, disconnect, ready } from '../../src/store/connection';
import { createEngine, type Engine } from '../../src/store/engine';
import { createHistory } from '../../src/store/history';
import { shardKeys } from '../../src/store/keys';
import { createMarkets } from '../../src/store/markets';
import { createNonceStore } from '../../src/store/nonces';
import { createReads, type Reads } from '../../src/store/reads';
import { createScripts, type RedisClient } from '../../src/store/scripts';
import { createSessionStore } from '../../src/store/sessions';
import { type Client, createClient } from './client';
import { startTestRedis } from './redis';

export const ADMIN_TOKEN = 'admin-token-of-the-tests-0123456789';
export const JWT_SECRET = 'jwt-secret-of-the-tests-0123456789abcdef';

export interface Replica {
  readonly config: Config;
  readonly http: Http;
  readonly port: number;
  readonly url: string;
  readonly client: Client;
  readonly reads: Reads;
  readonly engine: Engine;
  readonly sessions: Sessions;
  readonly redis: RedisClient;
  stop(): Promise<void>;
}

/** Web replicas on one Redis of their own, as a deployment has them, within the test's process. */
export interface TestExchange {
  readonly redis: RunningRedis;
  readonly replicas: readonly [Replica, ...Replica[]];
  /** Of the first replica. */
  readonly client: Client;
  /** Every line that was logged. */
  readonly logged: string[];
  stop(): Promise<void>;
}

export interface TestExchangeOptions {
  readonly replicas?: number;
  readonly env?: Environment;
}

/** Rate limits are off unless `env` says otherwise. */
export async function startExchange({
  replicas = 1,
  env = {},
}: TestExchangeOptions = {}): Promise<TestExchange> {
  const redis = await startTestRedis();
  const logged: string[] = [];
  const settings: Environment = {
    NODE_ENV: 'test',
    REDIS_URL: redis.url,
    PUBLIC_BASE_URL: 'https://exchange.test',
    JWT_SECRET,
    ADMIN_TOKEN,
    RATE_LIMIT: 'off',
    PAPER_GRANT: '1000000000',
    LOG_LEVEL: 'debug',
    ...env,
  };
  const started: Replica[] = [];
  for (let i = 0; i < replicas; i++) started.push(await startReplica(loadConfig(settings), logged));
  const [first, ...rest] = started;
  if (!first) throw new Error('no replica');
  return {
    redis,
    replicas: [first, ...rest],
    client: first.client,
    logged,
    stop: async () => {
      await Promise.all(started.map((replica) => replica.stop()));
      await redis.stop();
    },
  };
}

async function startReplica(config: Config, logged: string[]): Promise<Replica> {
  const redis = connect({ urls: config.redisUrls });
  await ready(redis, 5_000);
  const run = createScripts(redis);
  const keys = shardKeys();
  const clock = createClock();
  const history = createHistory({ redis, keys });
  const grantMicro = config.paperGrantMicro;
  const reads = createReads({ redis, run, keys, history, clock, grantMicro });
  const engine = createEngine({ run, keys, grantMicro, makersMax: config.matchMakersMax });
  const markets = createMarkets({
    engine,
    clock,
    ctfIds: (oracle, questionId) =>
      binaryMarketIds({ oracle, questionId, collateral: config.collateralAddress }),
    defaultOracle: checksumAddress(config.exchangeAddress),
  });
  const verifier = await createOrderVerifier({
    name: config.eip712Name,
    chainId: config.chainId,
    verifyingContract: config.exchangeAddress,
  });
  const issuer = config.publicBaseUrl;
  const tokens = createTokens({ secrets: config.jwtSecrets, issuer, audience: `chain:${config.chainId}` });
  const sessions = createSessions({ tokens, store: createSessionStore({ redis, run }) });
  const signIn = createSignIn({
    domain: new URL(config.publicBaseUrl).host,
    uri: config.publicBaseUrl,
    chainId: config.chainId,
    nonces: createNonceStore({ run }),
  });
  const http = createHttp({
    config,
    log: createLogger(config, 'web', { write: (line: string) => logged.push(line) }),
    redis,
    reads,
    engine,
    markets,
    verifier,
    signIn,
    sessions,
    scale: chainScale(config.collateralDecimals),
    health: async () => {
      await redis.ping();
      return { redis: true, scripts: true, durability: 'none', mode: 'NORMAL' };
    },
  });
  const port = await http.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await http.stop(2_000);
    disconnect(redis);
  };
  return { config, http, port, url, client: createClient(url), reads, engine, sessions, redis, stop };
}
