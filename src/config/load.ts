import { randomBytes } from 'node:crypto';
import type { Micro } from '../exchange/units';
import { isCluster } from '../store/redis/address';
import {
  CHAIN_MAKERS_MAX,
  type ChainConfig,
  chainConfig,
  chainProblems,
  operatorProblem,
  withoutKeys,
} from './chain';
import { ConfigError, type ConfigProblem, printable } from './report';
import { BadValue, type JwtSecrets, parseJwtSecrets, refusePublished } from './values';
import { VARIABLES, type Variable } from './variables';

/**
 * The only reader of `process.env`. One table defines every variable; a test compares `.env.example` and
 * docs/run/operations.md with it. All errors are reported at once, not one variable per restart.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

const CHAIN_IDS = { mainnet: 56, testnet: 97 } as const;
/** Seconds in which a mistaken result can be taken back. */
const PRODUCTION_DELAY_S = 600;
const PRIVATE_ADDRESSES = ['loopback', 'linklocal', 'uniquelocal'];
const REDIS_URL_LOCAL = 'redis://127.0.0.1:6379';

export type VariableName = keyof typeof VARIABLES;
type Values = { [Name in VariableName]: ReturnType<(typeof VARIABLES)[Name]['parse']> };

export interface Config {
  readonly nodeEnv: Values['NODE_ENV'];
  readonly port: number;
  /** The address to listen at; null: every address of the machine. */
  readonly host: string | null;
  /** One URL, those of the first nodes of a cluster, or those of the Sentinels of a primary (src/store/redis/address.ts). */
  readonly redisUrls: readonly string[];
  /** PEM: the CA of a rediss:// server, or its own certificate. */
  readonly redisTlsCa: string | null;
  /** `replicated`: only what replicas have confirmed is answered. Else the operator's statement, for a Redis that hides its settings. */
  readonly durability: Values['DURABILITY'];
  /** The replicas that must confirm; 0 unless `durability` is `replicated`. */
  readonly replicas: number;
  /** False when REDIS_URL was unset and `redisUrls` is the local default. */
  readonly redisGiven: boolean;
  /** URL of PostgreSQL; null when orders stay in Redis. */
  readonly archiveUrl: string | null;
  /** Null when the archive drops nothing for its age. */
  readonly archiveKeepMonths: number | null;
  readonly shards: Values['SHARDS'];
  readonly network: Values['NETWORK'];
  readonly chainId: (typeof CHAIN_IDS)[keyof typeof CHAIN_IDS];
  /** Without a slash at the end. */
  readonly publicBaseUrl: string;
  /** As given, without a checksum. */
  readonly exchangeAddress: string;
  readonly collateralAddress: string;
  readonly conditionalTokensAddress: string;
  /** The first signs; all of them verify. */
  readonly jwtSecrets: JwtSecrets;
  /** The first is the present one, and all open the admin routes; null: these do not exist. */
  readonly adminTokens: readonly string[] | null;
  /** Clients that the operators' paths exist for: addresses, networks, and the names that Express has for some. */
  readonly operatorAddresses: 'any' | readonly string[];
  readonly funds: Values['FUNDS'];
  /** Null with paper funds. */
  readonly chain: ChainConfig | null;
  /** Nodes that contract wallets are asked at, also with paper funds; empty: only keys sign. */
  readonly walletRpcUrls: readonly string[];
  readonly paperGrantMicro: Micro;
  readonly grantOn: Values['GRANT_ON'];
  readonly extensions: Values['EXTENSIONS'];
  readonly rateLimit: boolean;
  readonly serveUi: boolean;
  readonly broadcastIntervalMs: number;
  readonly matchMakersMax: number;
  /** Delay between the result of a market and the payout. */
  readonly resolveDelayMs: number;
  readonly corsOrigins: '*' | readonly string[];
  /** Express's `trust proxy`: false, hops, or addresses. */
  readonly trustProxy: false | number | readonly string[];
  readonly logLevel: Values['LOG_LEVEL'];
  readonly allowWeakDurability: boolean;
  readonly metricsPort: number | null;
  readonly metricsHost: string | null;
  readonly drainMs: number;
  readonly eip712Name: string;
  readonly collateralDecimals: number;
  readonly demo: boolean;
  /** Texts that the logger must hide. */
  readonly secrets: readonly string[];
}

/** The environment of this process, to pass on to children. */
export const processEnvironment = (): Environment => process.env;

/** The names in EXTENSIONS, which only the composition root can check. */
export type Chosen = Pick<Config, 'extensions'>;

/**
 * Throws ConfigError with a row for each bad variable, and with those of `chosenProblems`. An empty value counts as unset. What only
 * web reads is required of no other process, so that none has to be given a secret that it does not need.
 */
export function loadConfig(
  env: Environment = process.env,
  reader: 'web' | 'other' = 'web',
  chosenProblems: (chosen: Chosen) => readonly ConfigProblem[] = () => [],
): Config {
  const rows: ConfigProblem[] = [];
  const values: Record<string, unknown> = {};
  const textOf = (name: string): string => (env[name] ?? '').trim();
  const names = Object.keys(VARIABLES) as VariableName[];
  for (const name of names) {
    const { fallback, parse, secret: hidden } = VARIABLES[name] as Variable<unknown>;
    const text = textOf(name);
    try {
      const variable: Variable<unknown> = VARIABLES[name];
      if (variable.readBy !== 'web' || reader === 'web') refuseMissing(text, variable, textOf);
      if (hidden && textOf('NODE_ENV') === 'production') refusePublished(text);
      const used = text === '' ? fallback : text;
      values[name] = used === null ? null : parse(used);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      rows.push({ variable: name, given: printable(text, hidden === true), problem: error.message });
    }
  }
  // The value of a bad variable is undefined, which breaks none of these rules.
  const rules = [
    ...(values.FUNDS === 'chain' ? chainProblems(values as Values, (name) => textOf(name) !== '') : []),
    ...durabilityProblems(values as Values),
    ...(values.EXTENSIONS === undefined ? [] : chosenProblems({ extensions: (values as Values).EXTENSIONS })),
  ];
  const bad = new Set(rows.map(({ variable }) => variable));
  rows.push(...rules.filter(({ variable }) => !bad.has(variable)));
  if (rows.length > 0) throw new ConfigError(rows);
  return assemble(values as Values);
}

/** The waits for a replica are those of one server. */
function durabilityProblems({ DURABILITY, SHARDS, REDIS_URL }: Values): ConfigProblem[] {
  if (DURABILITY !== 'replicated' || !(SHARDS > 1 || isCluster(REDIS_URL ?? []))) return [];
  const problem = 'needs one Redis, or the Sentinels of one, and SHARDS=1';
  return [{ variable: 'DURABILITY', given: DURABILITY, problem }];
}

/** Reports a variable that is not set although its default is not good enough. */
function refuseMissing(text: string, variable: Variable<unknown>, textOf: (name: string) => string): void {
  const { fallback, requiredOn } = variable;
  const isProduction = textOf('NODE_ENV') === 'production';
  if (requiredOn === 'mainnet' && textOf('NETWORK') === requiredOn) {
    if (text === '') throw new BadValue('is required on mainnet');
    // The value was copied from the example, not chosen.
    if (text === fallback) throw new BadValue('is the address of the testnet: mainnet needs its own');
  }
  if (!isProduction || text !== '') return;
  if (requiredOn === 'production') throw new BadValue('is required in production');
  if (requiredOn === 'https' && textOf('PUBLIC_BASE_URL').startsWith('https:')) {
    throw new BadValue(
      'is required, because a proxy in front ends the TLS of PUBLIC_BASE_URL: set the number of proxies, or off',
    );
  }
}

/** On a chain every maker of a match has a settlement of its own, and a match has numbers for this many. */
const makersMaxOf = ({ FUNDS, MATCH_MAKERS_MAX: given }: Values): number =>
  FUNDS === 'chain' ? Math.min(given, CHAIN_MAKERS_MAX) : given;

/** The passwords in the URL of a store, as they are and as they are written there. */
function passwordsOf(url: string): string[] {
  const { password, searchParams } = new URL(url);
  const ofSentinels = searchParams.get('sentinelPassword') ?? '';
  const both = [password, decodeURIComponent(password), ofSentinels, encodeURIComponent(ofSentinels)];
  return both.filter((text) => text !== '');
}

function assemble(values: Values): Config {
  const jwtSecrets = values.JWT_SECRET ?? parseJwtSecrets(randomBytes(32).toString('hex'));
  const redisUrls = values.REDIS_URL ?? [REDIS_URL_LOCAL];
  const stores = [...redisUrls, ...(values.ARCHIVE_URL === null ? [] : [values.ARCHIVE_URL])];
  return Object.freeze({
    nodeEnv: values.NODE_ENV,
    port: values.PORT,
    host: values.HOST,
    redisUrls,
    redisTlsCa: values.REDIS_TLS_CA,
    durability: values.DURABILITY,
    replicas: values.DURABILITY === 'replicated' ? values.REDIS_REPLICAS : 0,
    redisGiven: values.REDIS_URL !== null,
    archiveUrl: values.ARCHIVE_URL,
    archiveKeepMonths: values.ARCHIVE_KEEP_MONTHS,
    shards: values.SHARDS,
    network: values.NETWORK,
    chainId: CHAIN_IDS[values.NETWORK],
    publicBaseUrl: values.PUBLIC_BASE_URL ?? `http://localhost:${values.PORT}`,
    exchangeAddress: values.EXCHANGE_ADDRESS,
    collateralAddress: values.COLLATERAL_ADDRESS,
    conditionalTokensAddress: values.CONDITIONAL_TOKENS_ADDRESS,
    jwtSecrets,
    adminTokens: values.ADMIN_TOKEN,
    resolveDelayMs:
      1_000 * (values.RESOLVE_DELAY ?? (values.NODE_ENV === 'production' ? PRODUCTION_DELAY_S : 0)),
    operatorAddresses:
      values.OPERATOR_ADDRESSES ?? (values.NODE_ENV === 'production' ? PRIVATE_ADDRESSES : 'any'),
    funds: values.FUNDS,
    chain: values.FUNDS === 'chain' ? chainConfig(values) : null,
    walletRpcUrls: values.CHAIN_RPC_URL ?? [],
    paperGrantMicro: values.PAPER_GRANT,
    grantOn: values.GRANT_ON,
    extensions: values.EXTENSIONS,
    rateLimit: values.RATE_LIMIT,
    serveUi: values.SERVE_UI,
    broadcastIntervalMs: values.BROADCAST_INTERVAL_MS,
    matchMakersMax: makersMaxOf(values),
    corsOrigins: values.CORS_ORIGINS,
    trustProxy: values.TRUST_PROXY,
    logLevel: values.LOG_LEVEL,
    allowWeakDurability: values.ALLOW_WEAK_DURABILITY,
    metricsPort: values.METRICS_PORT,
    metricsHost: values.METRICS_HOST,
    drainMs: values.DRAIN_MS,
    eip712Name: values.EIP712_NAME,
    collateralDecimals: values.COLLATERAL_DECIMALS,
    demo: values.DEMO,
    secrets: [
      ...jwtSecrets.map((entry) => entry.secret),
      ...(values.ADMIN_TOKEN ?? []),
      ...(values.ARCHIVE_URL === null ? [] : [values.ARCHIVE_URL]),
      ...(values.CHAIN_RPC_URL ?? []),
      ...(values.OPERATOR_KEYS ?? []),
      ...[values.OPERATOR_SIGNER_URL, values.ORACLE_KEY].filter((text) => text !== null),
      ...stores.flatMap(passwordsOf),
    ],
  });
}

/** The configuration of a web process: what only workers read, and is secret, it does not keep. */
export const webConfig = (config: Config): Config => withoutKeys(config);

/** The configuration of a worker. Throws ConfigError when it lacks what only workers need. */
export function workerConfig(config: Config): Config {
  const problem = config.chain === null ? null : operatorProblem(config.chain);
  if (problem !== null) throw new ConfigError([problem]);
  return config;
}
