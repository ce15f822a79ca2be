import { randomBytes } from 'node:crypto';
import type { Micro } from '../exchange/units';
import { ConfigError, type ConfigProblem, printable } from './report';
import {
  BadValue,
  flag,
  type JwtSecrets,
  matching,
  oneOf,
  parseAdminToken,
  parseBaseUrl,
  parseContractAddress,
  parseFunds,
  parseJwtSecrets,
  parseOrigins,
  parsePaperGrant,
  parseRedisUrls,
  parseRpcUrl,
  parseTrustProxy,
  wholeNumber,
} from './values';

/**
 * The only reader of `process.env`. One table says what every variable means; `.env.example` and docs/operations.md are
 * compared with it by a test. Bad configuration is reported all at once, never one variable per restart.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Variable<T> {
  /** Taken when the variable is unset or empty; null leaves the value null. */
  readonly fallback: string | null;
  /** Throws BadValue. */
  readonly parse: (text: string) => T;
  readonly doc: string;
  /** Its value is never printed. */
  readonly secret?: true;
  /** Where the fallback is not good enough. */
  readonly requiredOn?: 'production' | 'mainnet';
}

const CHAIN_IDS = { mainnet: 56, testnet: 97 } as const;
const REDIS_URL_LOCAL = 'redis://127.0.0.1:6379';

function variable<T>(
  fallback: string,
  parse: (text: string) => T,
  doc: string,
  more: Partial<Variable<T>> = {},
): Variable<T> {
  return { fallback, parse, doc, ...more };
}
function optional<T>(
  parse: (text: string) => T,
  doc: string,
  more: Partial<Variable<T>> = {},
): Variable<T | null> {
  return { fallback: null, parse, doc, ...more };
}

const secret = { secret: true } as const;
const onMainnet = { requiredOn: 'mainnet' } as const;

/** Every variable; each has its line in .env.example and its row in docs/operations.md. */
export const VARIABLES = {
  NODE_ENV: variable(
    'development',
    oneOf('development', 'production', 'test'),
    'development, production or test',
  ),
  PORT: variable('3000', wholeNumber(0, 65_535), 'where web listens; 0 takes any free port'),
  REDIS_URL: optional(
    parseRedisUrls,
    'redis:// or rediss://; a comma-separated list is a cluster; required in production (else redis://127.0.0.1:6379, and under npm start an embedded server)',
    { ...secret, requiredOn: 'production' },
  ),
  NETWORK: variable('testnet', oneOf('mainnet', 'testnet'), 'mainnet (chain 56) or testnet (chain 97)'),
  PUBLIC_BASE_URL: optional(
    parseBaseUrl,
    'what clients call; gives the SIWE domain and uri; default http://localhost:PORT',
  ),
  EXCHANGE_ADDRESS: variable(
    '0x88bB4DF483b67E0c665E0b7cAEE8d6456A816EDD',
    parseContractAddress,
    'verifyingContract of the orders; a fixed test address on testnet, required on mainnet',
    onMainnet,
  ),
  COLLATERAL_ADDRESS: variable(
    '0x7D832153CCA8836D41e77E83c71f82eb05eD6Dbd',
    parseContractAddress,
    'the collateral ERC-20; a fixed test address on testnet, required on mainnet',
    onMainnet,
  ),
  CONDITIONAL_TOKENS_ADDRESS: variable(
    '0xec6894612b2CEE4B6bBb7D0f6E1a5865e2e7Aa02',
    parseContractAddress,
    'the conditional tokens; a fixed test address on testnet, required on mainnet',
    onMainnet,
  ),
  JWT_SECRET: optional(
    parseJwtSecrets,
    'at least 32 bytes, or a kid:secret list (first signs, all verify); the same for all web processes; required in production, else random',
    { ...secret, requiredOn: 'production' },
  ),
  ADMIN_TOKEN: optional(
    parseAdminToken,
    'opens the admin routes, at least 32 characters; unset, they answer 404',
    secret,
  ),
  FUNDS: variable('paper', parseFunds, 'paper: a ledger in Redis; chain is not built yet'),
  PAPER_GRANT: variable(
    '10000',
    parsePaperGrant,
    'what a wallet gets once, when first seen, at most 1000000',
  ),
  GRANT_ON: variable(
    'first-order',
    oneOf('first-order', 'sign-in'),
    'what a wallet gets PAPER_GRANT for; with sign-in a wallet that never signed in has nothing, and leaves nothing behind',
  ),
  RATE_LIMIT: variable('on', flag, 'on or off'),
  SERVE_UI: variable('1', flag, 'the trading page at /: 1 or 0'),
  BROADCAST_INTERVAL_MS: variable(
    '25',
    wholeNumber(0, 10_000),
    'at most one book update per market in this time',
  ),
  MATCH_MAKERS_MAX: variable('500', wholeNumber(1, 1000), 'makers one submission may meet, 1 to 1000'),
  CORS_ORIGINS: variable('*', parseOrigins, '*, none, or a comma-separated list of origins'),
  TRUST_PROXY: variable(
    'off',
    parseTrustProxy,
    'off, the number of proxies in front, or a list of their addresses',
  ),
  LOG_LEVEL: variable(
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'fatal to trace, or silent; npm start takes warn',
  ),
  ALLOW_WEAK_DURABILITY: variable(
    '0',
    flag,
    '1 lets production run on a Redis that may lose what it answered (not appendfsync always) or evict records',
  ),
  METRICS_PORT: optional(
    wholeNumber(0, 65_535),
    'where a worker answers GET /metrics and /livez; unset: nowhere (web answers them on PORT)',
  ),
  EIP712_NAME: variable(
    'Market CTF Exchange',
    matching(/^[\x20-\x7e]{1,64}$/, 'must be 1 to 64 printable characters'),
    'name in the EIP-712 domain of the orders',
  ),
  COLLATERAL_DECIMALS: variable('18', wholeNumber(6, 36), 'decimals of the collateral on chain, 6 to 36'),
  CHAIN_RPC_URL: optional(
    parseRpcUrl,
    'not read yet: funds on a chain and contract wallets (EIP-1271) are not built yet',
    secret,
  ),
  DEMO: variable('0', flag, '1 opens demo markets; npm start takes 1'),
} as const satisfies Record<string, Variable<unknown>>;

export type VariableName = keyof typeof VARIABLES;
type Values = { [Name in VariableName]: ReturnType<(typeof VARIABLES)[Name]['parse']> };

export interface Config {
  readonly nodeEnv: Values['NODE_ENV'];
  readonly port: number;
  /** One, or the seeds of a cluster. */
  readonly redisUrls: readonly string[];
  /** False when REDIS_URL was unset and `redisUrls` is the local default. */
  readonly redisGiven: boolean;
  readonly network: Values['NETWORK'];
  readonly chainId: (typeof CHAIN_IDS)[keyof typeof CHAIN_IDS];
  /** Without a slash at the end. */
  readonly publicBaseUrl: string;
  /** As given: not checksummed here. */
  readonly exchangeAddress: string;
  readonly collateralAddress: string;
  readonly conditionalTokensAddress: string;
  /** The first one signs, all of them verify. */
  readonly jwtSecrets: JwtSecrets;
  readonly adminToken: string | null;
  readonly funds: 'paper';
  readonly paperGrantMicro: Micro;
  readonly grantOn: Values['GRANT_ON'];
  readonly rateLimit: boolean;
  readonly serveUi: boolean;
  readonly broadcastIntervalMs: number;
  readonly matchMakersMax: number;
  readonly corsOrigins: '*' | readonly string[];
  /** For Express's `trust proxy`: false, hops, or addresses. */
  readonly trustProxy: false | number | readonly string[];
  readonly logLevel: Values['LOG_LEVEL'];
  readonly allowWeakDurability: boolean;
  readonly metricsPort: number | null;
  readonly eip712Name: string;
  readonly collateralDecimals: number;
  readonly chainRpcUrl: string | null;
  readonly demo: boolean;
  /** Texts that must never be logged; for the logger's redaction. */
  readonly secrets: readonly string[];
}

/** The environment of this process, for what hands it on to children. */
export const processEnvironment = (): Environment => process.env;

/** Throws ConfigError with a row for each bad variable. An empty value counts as unset. */
export function loadConfig(env: Environment = process.env): Config {
  const rows: ConfigProblem[] = [];
  const values: Record<string, unknown> = {};
  const textOf = (name: string): string => (env[name] ?? '').trim();
  const names = Object.keys(VARIABLES) as VariableName[];
  for (const name of names) {
    const { fallback, parse, secret: hidden, requiredOn } = VARIABLES[name] as Variable<unknown>;
    const text = textOf(name);
    try {
      // A test address given on mainnet is a copied example, not a decision.
      if ((text === '' || text === fallback) && isRequired(requiredOn, textOf)) {
        throw new BadValue(`is required ${WHERE_REQUIRED[requiredOn]}`);
      }
      const used = text === '' ? fallback : text;
      values[name] = used === null ? null : parse(used);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      rows.push({ variable: name, given: printable(text, hidden === true), problem: error.message });
    }
  }
  if (rows.length > 0) throw new ConfigError(rows);
  return assemble(values as Values);
}

const WHERE_REQUIRED = { production: 'in production', mainnet: 'on mainnet' } as const;

function isRequired(
  where: keyof typeof WHERE_REQUIRED | undefined,
  textOf: (name: string) => string,
): where is keyof typeof WHERE_REQUIRED {
  return where === 'production'
    ? textOf('NODE_ENV') === where
    : where !== undefined && textOf('NETWORK') === where;
}

function assemble(values: Values): Config {
  const jwtSecrets = values.JWT_SECRET ?? parseJwtSecrets(randomBytes(32).toString('hex'));
  const redisUrls = values.REDIS_URL ?? [REDIS_URL_LOCAL];
  const passwords = redisUrls.map((url) => new URL(url).password).filter((password) => password !== '');
  return Object.freeze({
    nodeEnv: values.NODE_ENV,
    port: values.PORT,
    redisUrls,
    redisGiven: values.REDIS_URL !== null,
    network: values.NETWORK,
    chainId: CHAIN_IDS[values.NETWORK],
    publicBaseUrl: values.PUBLIC_BASE_URL ?? `http://localhost:${values.PORT}`,
    exchangeAddress: values.EXCHANGE_ADDRESS,
    collateralAddress: values.COLLATERAL_ADDRESS,
    conditionalTokensAddress: values.CONDITIONAL_TOKENS_ADDRESS,
    jwtSecrets,
    adminToken: values.ADMIN_TOKEN,
    funds: values.FUNDS,
    paperGrantMicro: values.PAPER_GRANT,
    grantOn: values.GRANT_ON,
    rateLimit: values.RATE_LIMIT,
    serveUi: values.SERVE_UI,
    broadcastIntervalMs: values.BROADCAST_INTERVAL_MS,
    matchMakersMax: values.MATCH_MAKERS_MAX,
    corsOrigins: values.CORS_ORIGINS,
    trustProxy: values.TRUST_PROXY,
    logLevel: values.LOG_LEVEL,
    allowWeakDurability: values.ALLOW_WEAK_DURABILITY,
    metricsPort: values.METRICS_PORT,
    eip712Name: values.EIP712_NAME,
    collateralDecimals: values.COLLATERAL_DECIMALS,
    chainRpcUrl: values.CHAIN_RPC_URL,
    demo: values.DEMO,
    secrets: [
      ...jwtSecrets.map((entry) => entry.secret),
      ...(values.ADMIN_TOKEN === null ? [] : [values.ADMIN_TOKEN]),
      ...(values.CHAIN_RPC_URL === null ? [] : [values.CHAIN_RPC_URL]),
      ...passwords.flatMap((password) => [password, decodeURIComponent(password)]),
    ],
  });
}
